/** Decisions on users whose groups by SCIM name their Seats. */

import t from 'tap'
import type { Evaluation } from '../../src/model/decision.ts'
import type { Principal } from '../../src/model/principal.ts'
import { member, REQUEST, settled, SlowStore } from './slow-store.ts'

function setUp(seats: Record<string, string[]> = { A: ['x:y'], B: [] }) {
  const store = new SlowStore()
  for (const [name, permissions] of Object.entries(seats)) store.seats.set(name, permissions)
  return store
}

function evaluate(store: SlowStore, caller: Principal = member()): Promise<Evaluation> {
  return Promise.resolve(store.engine(() => caller).evaluate(REQUEST))
}

const codeOf = (store: SlowStore, caller?: Principal) =>
  evaluate(store, caller).then(({ decision }) => decision.code)

t.test('the Seats that have the names of the groups; other groups give nothing', async (t) => {
  const store = setUp()
  store.provision(['No Seat', 'A', 'B'])
  const { decision } = await evaluate(store)
  t.equal(decision.code, 'allow')
  t.same(
    decision.seats.map(({ name, verdict }) => `${name} ${verdict}`),
    ['No Seat unknown', 'A grants', 'B lacks_permission'],
  )
  store.provision(['B'])
  t.equal(await codeOf(store), 'permission_denied')
  store.provision(['No Seat'])
  t.equal(await codeOf(store), 'no_seat_in_space')
  store.provision([])
  t.equal(await codeOf(store), 'no_seat_in_space')
})

t.test('nothing is awaited once memory has the groups', async (t) => {
  const store = setUp()
  store.provision(['A'])
  await codeOf(store)
  store.asked.length = 0
  const evaluation = store.engine(member).evaluate(REQUEST)
  t.notOk(evaluation instanceof Promise)
  t.same(store.asked, [])
})

t.test('a user whom SCIM does not know, or whose credential does not say who it is', async (t) => {
  const store = setUp()
  t.equal(await codeOf(store), 'no_seat_in_space')
  store.asked.length = 0
  const unknown = { ...member(), claims: { by: 'membership', member: null, issuedAt: 0 } } as const
  t.equal(await codeOf(store, unknown), 'no_seat_in_space')
  t.same(store.asked, [])
  store.provision(['A'])
  t.equal(await codeOf(store), 'allow', 'once SCIM knows the user')
})

t.test('a user who is not active is blocked on every route, whatever the groups and grants', async (t) => {
  const store = setUp()
  store.provision(null)
  store.giveGrants('alice', { id: 'g1', seat: 'A', from: 0, until: Infinity })
  const { refusal } = await evaluate(store)
  t.match(refusal, { code: 'caller_blocked', status: 403, detail: /deactivated/ })
  store.provision(['A'])
  t.equal(await codeOf(store), 'allow')
})

t.test('a name that was given up counts: a group gives the Seat that has its name now', async (t) => {
  const store = setUp()
  store.givenUp.set('A', 2 ** 40)
  store.provision(['A'])
  t.equal(await codeOf(store), 'allow')
})

t.test('a change concerns a user by both keys, and a whole tenant', async (t) => {
  for (const key of ['["alice","x"]', '["alice",""]', 'null', '{"of a newer":"version"}']) {
    const store = setUp()
    store.provision(['A'])
    t.equal(await codeOf(store), 'allow')
    store.provision(['B'], key)
    t.equal(await codeOf(store), 'permission_denied', key)
  }
  const store = setUp()
  const byName = { ...member(), claims: { by: 'membership', member: 'userName:alice', issuedAt: 0 } } as const
  store.write(() => store.groups.set('userName:alice', ['A']), ['membership', '[null,"alice"]'])
  t.equal(await codeOf(store, byName), 'allow')
  store.write(() => store.groups.set('userName:alice', []), ['membership', '[null,"alice"]'])
  t.equal(await codeOf(store, byName), 'no_seat_in_space')
})

t.test('a change of another user, or of another tenant, costs no read', async (t) => {
  const store = setUp()
  store.provision(['A'])
  await codeOf(store)
  store.asked.length = 0
  store.write(() => {}, ['membership', '["bob","bob"]'])
  store.write(() => {}, ['membership', 'null', 'globex'])
  t.equal(await codeOf(store), 'allow')
  t.same(store.asked, [])
})

t.test('a user moves from one group to another while the decision waits: no mixture of both', async (t) => {
  const store = setUp({ A: ['x:y'], B: ['x:y'] })
  store.provision(['A'])
  store.isSlow = true
  const code = codeOf(store)
  await settled()
  await store.release('restrictions')
  await store.release('groups of externalId:alice')
  await store.release('grants')
  t.same(store.waiting, ['name A'])
  // One commit takes the user out of A, and the right from B: before it, A gave it; after it, nothing does.
  store.provision(['B'])
  store.grant('B', [])
  store.grant('A', ['x:y'])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'permission_denied')
  t.ok(store.memory.received.repeated > 0)
})

t.test('a flood of changes of another tenant repeats no decision that waits', async (t) => {
  const store = setUp()
  store.provision(['A'])
  store.isSlow = true
  const code = codeOf(store)
  for (let at = 0; at < 3000; at++) store.write(() => {}, ['membership', `["u${at}","u${at}"]`, 'globex'])
  store.write(() => {}, ['membership', 'null', 'globex'])
  store.isSlow = false
  await store.release()
  t.equal(await code, 'allow')
  t.equal(store.memory.received.repeated, 0)
})

t.test('the refusal names other spaces only to operators', async (t) => {
  const store = setUp()
  store.provision(['A'])
  const elsewhere = { ...REQUEST, credentials: { ...REQUEST.credentials, space: ['s2'] } }
  const engine = store.engine(member)
  const refused = await engine.evaluate(elsewhere)
  t.equal(refused.decision.code, 'no_seat_in_space')
  const named = await engine.nameSpaces(refused, 1000)
  t.same(named.decision.grantedIn, ['s1'])
  t.notMatch(named.refusal?.detail, /s1/)
})
