/** The changes between two checks: whose callers they concern, however many there are. */

import t from 'tap'
import { Changes } from '../../src/pipeline/pending-changes.ts'

const change = (kind: string, key: string, tenant = 'acme', mark = 1) => ({ tenant, kind, key, mark })
const users = (count: number) =>
  Array.from({ length: count }, (_, at) => JSON.stringify([`e${at}`, `u${at}`]))

t.test('a change of groups concerns the user by both keys, or every user of the tenant', async (t) => {
  const changes = new Changes()
  changes.applyAnnouncement([change('membership', '["alice","alice@acme.example"]')])
  const one = changes.sinceLastCheck()
  const has = (member: string, tenant = 'acme') => one?.has(tenant, 'membership', member)
  t.same([has('externalId:alice'), has('userName:alice@acme.example')], [true, true])
  t.same(
    [has('userName:alice'), has('externalId:bob'), has('externalId:alice', 'globex')],
    [false, false, false],
  )
  changes.applyAnnouncement([change('membership', 'null'), change('membership', '["bob","bob"]')])
  const all = changes.sinceLastCheck()
  t.equal(all?.has('acme', 'membership', 'externalId:alice'), true)
  t.equal(all?.has('globex', 'membership', 'externalId:alice'), false)
  t.equal(all?.has('acme', 'seat', 'x'), false)
  t.equal(changes.sinceLastCheck(), null)
})

t.test('thousands of changes of one tenant concern no caller of another', async (t) => {
  const changes = new Changes()
  changes.applyAnnouncement([
    change('membership', '["alice","alice"]', 'globex'),
    change('grant', '"alice"', 'globex'),
  ])
  for (let round = 0; round < 5; round++)
    changes.applyAnnouncement(users(6000).map((key) => change('membership', key)))
  const changed = changes.sinceLastCheck()
  t.equal(changed?.all, false)
  t.equal(changed?.has('acme', 'membership', 'externalId:of no change'), true, 'any of that tenant')
  t.equal(changed?.has('globex', 'membership', 'externalId:alice'), true)
  t.equal(changed?.has('globex', 'membership', 'externalId:bob'), false)
  t.same([changed?.has('globex', 'grant', 'alice'), changed?.has('globex', 'grant', 'bob')], [true, false])
})

t.test('the groups of a commit with a revocation count too', async (t) => {
  const changes = new Changes()
  const notice = JSON.stringify({ at: 1, subject: { user: 'alice' }, listed: true })
  changes.applyAnnouncement([change('revocation', notice), change('membership', '["alice","alice"]')])
  const changed = changes.sinceLastCheck()
  t.equal(changed?.revoked.length, 1)
  t.equal(changed?.has('acme', 'membership', 'externalId:alice'), true)
})

t.test('the grants of a commit with a revocation count too', async (t) => {
  const changes = new Changes()
  // SCIM gives a user another key: the former one is revoked, and its grants end.
  const notice = JSON.stringify({ at: 1, subject: { user: 'alice' }, listed: true })
  changes.applyAnnouncement([change('revocation', notice), change('grant', '"alice"')])
  const changed = changes.sinceLastCheck()
  t.equal(changed?.revoked.length, 1)
  t.same([changed?.has('acme', 'grant', 'alice'), changed?.has('acme', 'grant', 'bob')], [true, false])
})

t.test('tables concern what is open once they are active', async (t) => {
  const changes = new Changes()
  changes.applyAnnouncement([change('tables-candidate', '01K')])
  changes.applyReading([change('tables-candidate', '01L')])
  t.equal(changes.sinceLastCheck(), null)
  changes.applyAnnouncement([change('tables', '{"version":1,"candidate":"01K"}')])
  t.equal(changes.sinceLastCheck(), null, 'the change alone says nothing of them')
  changes.addTables(3)
  t.same(await changes.cutBy(3), { websockets: 0, streams: 0, requests: 0 }, 'nothing is open yet')
  let urgent = 0
  changes.onUrgent(() => urgent++)
  changes.addTables(7)
  changes.addTables(7)
  t.equal(urgent, 1)
  const changed = changes.sinceLastCheck()
  t.same([changed?.all, changed?.tables], [false, [7]])
  t.equal(changes.sinceLastCheck(), null)
  const cut = { websockets: 1, streams: 0, requests: 2 }
  changes.hasCut(7, cut)
  t.same(await changes.cutBy(7), cut)
})
