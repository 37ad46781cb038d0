/** Requests of a provider whose answer was lost: the repetition is answered once the first one holds everywhere. */

import t from 'tap'
import { serveScim } from '../../../seats-admin/index.ts'
import { LEASE, MARGIN } from '../../../src/coherence/lease.ts'
import { REACHED } from '../api/support.ts'
import type { Committed } from '../../../seats-admin/model/change.ts'
import { deletedUser, made, scim, scimGroup, scimUser } from '../store/scim-records.ts'
import { databases } from '../store/sqlite/support.ts'
import { inTurn } from '../store/in-turn.ts'

const database = inTurn(t, databases())
const tenant = { id: 'acme', mode: 'externalId', adminSpace: 'admin', base: 'https://gw.example' } as const

t.test('a provider repeats what is not closed once a lease is over', async (t) => {
  const { store } = await database(t)
  const silent = { ...REACHED, how: 'lease_ended', cut: null } as const
  let reached: typeof REACHED = silent
  const deps = {
    ...{ store, now: Date.now, written: () => {}, announce: async () => {} },
    revoking: {
      ...{ revoke: async () => [reached], issuers: () => [], unreached: () => [] },
      ...{ sign: null, answered: () => {} },
    },
  }
  const user = await scimUser(store, 'ann')
  const off = { Operations: [{ op: 'replace', path: 'active', value: false }] }
  const send = () =>
    serveScim(deps, tenant, {
      ...{ method: 'PATCH', path: ['Users', user.id], query: '', ifMatch: [], ifNoneMatch: [] },
      ...{ body: off, requestId: 'test' },
    })
  const seconds = Math.ceil((LEASE + MARGIN) / 1000)
  t.match(await send(), { status: 503, headers: ['retry-after', String(seconds)] })
  reached = REACHED
  t.match(await send(), { status: 200, body: { active: false } })
})

t.test('a deletion of what is gone is a 404 once the deletion is announced', async (t) => {
  const { store } = await database(t)
  const announced: Committed[] = []
  let isAway = false
  const deps = {
    ...{ store, now: Date.now, written: () => {} },
    announce: async (committed: Committed) => {
      if (isAway) throw new Error('an instance does not acknowledge')
      announced.push(committed)
    },
    revoking: {
      revoke: async () => {
        t.fail('nothing is revoked')
        return []
      },
      issuers: () => [],
      unreached: () => [],
      sign: null,
      answered: () => {},
    },
  }
  const send = (method: string, path: readonly string[]) =>
    serveScim(deps, tenant, {
      ...{ method, path, query: '', ifMatch: [], ifNoneMatch: [] },
      ...{ body: undefined, requestId: 'test' },
    })
  const user = await scimUser(store, 'ann')
  const group = await scimGroup(store, 'Viewer', [user.id])
  // Their answers are lost.
  const groupGone = made(await store.deleteScimGroup(scim(), group.id))
  t.match(await send('DELETE', ['Groups', group.id]), { status: 404 })
  t.match(announced.at(-1), { seq: groupGone.seq, mark: groupGone.mark })
  const { gone } = await deletedUser(store, user.id)
  t.match(await send('DELETE', ['Users', user.id]), { status: 404 })
  t.match(announced.at(-1), { seq: gone.seq, mark: gone.mark })
  isAway = true
  for (const path of [
    ['Groups', group.id],
    ['Users', user.id],
  ])
    await t.rejects(send('DELETE', path), /does not acknowledge/)
  t.match(await send('GET', ['Users', user.id]), { status: 404 }, 'a read says nothing of writes')
})
