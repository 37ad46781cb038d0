/** Versions of Seats and API keys, on every driver. */

import type { Scope } from '../../../seats-admin/index.ts'
import { apiKeyTag, type IfMatch, seatTag } from '../../../seats-admin/model/entity-tag.ts'
import { ADMIN, done, inSpace, key, MISSING, refused, seat, suite, tried, writer } from './conformance.ts'

function when(ifMatch: IfMatch | null, scope = ADMIN) {
  return { ...writer(scope), ifMatch }
}

export const versionConformance = suite((test) => {
  test('each write of a Seat makes another tag, also one that restores an earlier state', async (t, store) => {
    const made = await seat(store, 'Viewer')
    t.equal(made.version, 1)
    const tags = [seatTag(made)]
    const now = Date.now()
    const permissions = [['c:d'], ['a:b']].map((list) => ({ permissions: list }))
    for (const patch of [...permissions, {}, { name: 'W' }, { name: 'Viewer' }]) {
      const after = done(await store.updateSeat(writer(ADMIN, now), made.id, patch)).value
      t.same(await store.readSeat('acme', made.id, ADMIN), after)
      tags.push(seatTag(after))
    }
    t.equal(new Set(tags).size, 6)
    t.ok(tags.every((tag, at) => tag.startsWith(`"${at + 1}-`)))
  })

  test('a change under the newest tag succeeds, one under any other is refused', async (t, store) => {
    const first = await seat(store, 'Viewer')
    const as = when([seatTag(first)])
    const second = done(await store.updateSeat(as, first.id, { permissions: ['c:d'] })).value
    const before = await store.changesSince(null)
    for (const condition of [[seatTag(first)], [], ['"2"'], [`${seatTag(second)} `]]) {
      t.equal(refused(await store.updateSeat(when(condition), first.id, {})), 'precondition_failed')
      t.equal(refused(await store.deleteSeat(when(condition), first.id)), 'precondition_failed')
    }
    t.same(await store.changesSince(null), before, 'nothing was written')
    t.same(await store.readSeat('acme', first.id, ADMIN), second)
    const third = done(await store.updateSeat(when([seatTag(first), seatTag(second)]), first.id, {})).value
    done(await store.updateSeat(when('*'), first.id, {}))
    t.equal(refused(await store.deleteSeat(when([seatTag(third)]), first.id)), 'precondition_failed')
    const read = done(await store.readSeat('acme', first.id, ADMIN))
    done(await store.deleteSeat(when([seatTag(read)]), first.id))
    for (const condition of ['*', [seatTag(read)]] as const)
      t.equal(refused(await store.updateSeat(when(condition), first.id, {})), 'seat_not_found')
  })

  test('an API key has another tag after its revocation, and after a rename of its Seat', async (t, store) => {
    const { id } = await seat(store, 'Viewer')
    const made = await key(store, ['Viewer'])
    const read = async () => done(await store.readApiKey('acme', made.id, ADMIN))
    t.equal(apiKeyTag(await read()), apiKeyTag(made))
    done(await store.updateSeat(writer(), id, { name: 'Reader' }))
    t.not(apiKeyTag(await read()), apiKeyTag(made))
    t.equal(refused(await store.revokeApiKey(when([apiKeyTag(made)]), made.id)), 'precondition_failed')
    const tag = apiKeyTag(await read())
    done(await store.revokeApiKey(when([tag]), made.id))
    t.equal((await read()).version, 2)
    t.equal(refused(await store.revokeApiKey(when([tag]), made.id)), 'precondition_failed')
    done(await store.revokeApiKey(when('*'), made.id))
    t.equal(refused(await store.revokeApiKey(when('*'), MISSING)), 'api_key_not_found')
  })

  test('a refusal of the rights comes before one of the version', async (t, store) => {
    const viewer = await seat(store, 'Viewer', ['one'], ['x:y'])
    const { id } = await key(store, ['Viewer'])
    const all = async (scope: Scope) => {
      const { update, remove, revoke } = tried(store, when([], scope))
      return [await update(viewer.id), await remove(viewer.id), await revoke(id)]
    }
    t.same(await all(inSpace('one', 'a:b')), Array(3).fill('grant_exceeds_own'))
    t.same(await all(inSpace('two', '*')), ['seat_not_found', 'seat_not_found', 'api_key_not_found'])
  })
})
