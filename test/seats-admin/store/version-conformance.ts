/** Versions of Seats and API keys, on every driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import { apiKeyTag, type IfMatch, seatTag } from '../../../seats-admin/model/entity-tag.ts'
import { ADMIN, MISSING, done, inSpace, refused, suiteOf, writer } from './conformance.ts'

const VIEWER = { name: 'Viewer', spaces: ['one'], permissions: ['a:b'] }

function when(ifMatch: IfMatch | null, scope = ADMIN) {
  return { ...writer(scope), ifMatch }
}

export function versionConformance(t: Test, openStore: (t: Test) => Promise<Store>): void {
  const { test } = suiteOf(t, openStore)

  test('each write of a Seat makes another tag, also one that restores an earlier state', async (t, store) => {
    const made = done(await store.createSeat(writer(), VIEWER)).value
    t.equal(made.version, 1)
    const tags = [seatTag(made)]
    const now = Date.now()
    for (const patch of [
      { permissions: ['c:d'] },
      { permissions: ['a:b'] },
      {},
      { name: 'W' },
      { name: 'Viewer' },
    ]) {
      const after = done(await store.updateSeat(writer(ADMIN, now), made.id, patch)).value
      t.same(await store.readSeat('acme', made.id, ADMIN), after)
      tags.push(seatTag(after))
    }
    t.equal(new Set(tags).size, 6)
    t.ok(tags.every((tag, at) => tag.startsWith(`"${at + 1}-`)))
  })

  test('a change under the newest tag succeeds, one under any other is refused', async (t, store) => {
    const first = done(await store.createSeat(writer(), VIEWER)).value
    const second = done(
      await store.updateSeat(when([seatTag(first)]), first.id, { permissions: ['c:d'] }),
    ).value
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
    const seat = done(await store.createSeat(writer(), VIEWER)).value
    const made = done(
      await store.createApiKey(writer(), { name: 'ci', seats: ['Viewer'], expiresAt: null }),
    ).value
    const read = async () => done(await store.readApiKey('acme', made.id, ADMIN))
    t.equal(apiKeyTag(await read()), apiKeyTag(made))
    done(await store.updateSeat(writer(), seat.id, { name: 'Reader' }))
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
    const seat = done(await store.createSeat(writer(), { ...VIEWER, permissions: ['x:y'] })).value
    const key = done(
      await store.createApiKey(writer(), { name: 'ci', seats: ['Viewer'], expiresAt: null }),
    ).value
    const weak = when([], inSpace('one', 'a:b'))
    t.equal(refused(await store.updateSeat(weak, seat.id, {})), 'grant_exceeds_own')
    t.equal(refused(await store.deleteSeat(weak, seat.id)), 'grant_exceeds_own')
    t.equal(refused(await store.revokeApiKey(weak, key.id)), 'grant_exceeds_own')
    const stranger = when([], inSpace('two', '*'))
    t.equal(refused(await store.updateSeat(stranger, seat.id, {})), 'seat_not_found')
    t.equal(refused(await store.deleteSeat(stranger, seat.id)), 'seat_not_found')
    t.equal(refused(await store.revokeApiKey(stranger, key.id)), 'api_key_not_found')
  })
}
