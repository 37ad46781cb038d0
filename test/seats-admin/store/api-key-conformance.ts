/** API keys, on every driver. */

import { isRefusal } from '../../../seats-admin/index.ts'
import { hashApiKey, parseApiKey } from '../../../seats-admin/model/api-key.ts'
import {
  ADMIN,
  column,
  done,
  key,
  MISSING,
  PAGE,
  positionOf,
  seat,
  suite,
  tried,
  writer,
} from './conformance.ts'

export const apiKeyConformance = suite((test) => {
  test('an API key is found by its id, and its text is not stored', async (t, store) => {
    const a = await seat(store, 'A')
    const b = await seat(store, 'B')
    const wanted = { name: 'ci', seats: ['B', 'A'], expiresAt: 99, owner: 'auth0|\ud800\0' }
    const made = done(await store.createApiKey(writer(ADMIN, 77), wanted))
    const { key: text, ...shown } = made.value
    t.same(parseApiKey(text), { tenant: 'acme', id: shown.id })
    const written = { createdBy: 'alice', createdAt: 77, revokedAt: null, lastUsedAt: null }
    const expected = { ...wanted, id: shown.id, tenant: 'acme', version: 1, ...written }
    t.same(shown, expected)
    t.same(await store.readApiKey('acme', shown.id, ADMIN), expected)
    t.same((await store.listApiKeys('acme', PAGE)).data, [expected])
    const stored = await store.apiKeyById('acme', shown.id)
    t.same(positionOf(stored), positionOf(made))
    t.same(stored.value?.seatIds, [b.id, a.id])
    t.same([stored.value?.expiresAt, stored.value?.revokedAt, stored.value?.owner], [99, null, wanted.owner])
    t.same([...(stored.value?.hash ?? [])], [...hashApiKey(text)])
    t.equal((await store.apiKeyById('acme', (await key(store, [])).id)).value?.owner, null)
    t.not((await key(store, [])).key, (await key(store, [])).key)
  })

  test('a revoked key stays, with the time of the first revocation', async (t, store) => {
    const { id } = await key(store, [])
    for (const now of [1000, 2000]) done(await store.revokeApiKey(writer(ADMIN, now), id))
    t.equal((await store.apiKeyById('acme', id)).value?.revokedAt, 1000)
    t.equal(done(await store.readApiKey('acme', id, ADMIN)).revokedAt, 1000)
    t.equal((await store.listApiKeys('acme', PAGE)).data.length, 1)
  })

  test('the last use of a key never moves back, and changes nothing else', async (t, store) => {
    await seat(store, 'A')
    const [one, two, never] = [await key(store, ['A']), await key(store, ['A']), await key(store, [])]
    const head = await store.changesSince(null)
    const used = async (id: string) => done(await store.readApiKey('acme', id, ADMIN)).lastUsedAt
    const use = (id: string, at: number, tenant = 'acme') => ({ tenant, id, at })
    await store.recordKeyUse([])
    await store.recordKeyUse([use(one.id, 500), use(two.id, 300), use(two.id, 400), use(two.id, 350)])
    t.same([await used(one.id), await used(two.id), await used(never.id)], [500, 400, null])
    await store.recordKeyUse([use(one.id, 499), use(two.id, 401)])
    t.same([await used(one.id), await used(two.id)], [500, 401])
    const unknown = [MISSING, '', '\0', '\ud800', "' OR 1=1 --"].map((id) => use(id, 900))
    await store.recordKeyUse([
      ...unknown,
      use(one.id, 900, 'globex'),
      use(one.id, 900, '\0'),
      use(two.id, 402),
    ])
    t.same([await used(one.id), await used(two.id)], [500, 402], 'unknown keys are ignored')
    done(await store.revokeApiKey(writer(ADMIN, 700), two.id))
    await store.recordKeyUse([use(two.id, 800)])
    t.same(await used(two.id), 800, 'also of a revoked key: a late report of earlier use')
    const { data } = await store.listApiKeys('acme', PAGE)
    t.same(column(data, 'lastUsedAt'), [500, 800, null])
    const granting = { ...PAGE, grant: { permission: 'a:b', space: null, now: 1 } }
    t.match((await store.listApiKeys('acme', granting)).data, [{ id: one.id, lastUsedAt: 500 }])
    t.equal((await store.changesSince(head.head)).changes?.length, 1, 'only the revocation is in the feed')
  })

  test('concurrent batches of the same keys in different orders are all recorded', async (t, store) => {
    const ids: string[] = []
    for (let at = 0; at < 60; at++) ids.push((await key(store, [])).id)
    const batch = (round: number) =>
      (round % 2 === 0 ? ids : ids.toReversed()).map((id, at) => ({
        tenant: 'acme',
        id,
        at: round * 100 + at,
      }))
    await Promise.all(Array.from({ length: 12 }, (_, round) => store.recordKeyUse(batch(round))))
    const { data } = await store.listApiKeys('acme', PAGE)
    t.same(
      column(data, 'lastUsedAt'),
      ids.map((_, at) => Math.max(1000 + at, 1100 + 59 - at)),
    )
  })

  test('a key has Seats by id: it follows a rename, and a new Seat of the name does not revive it', async (t, store) => {
    const { id } = await seat(store, 'A')
    const made = await key(store, ['A'])
    const seatsOf = async () => done(await store.readApiKey('acme', made.id, ADMIN)).seats
    done(await store.updateSeat(writer(), id, { name: 'B' }))
    t.same(await seatsOf(), ['B'])
    done(await store.deleteSeat(writer(), id))
    t.same(await seatsOf(), [])
    await seat(store, 'B')
    await seat(store, 'A')
    t.same(await seatsOf(), [])
    t.same((await store.apiKeyById('acme', made.id)).value?.seatIds, [])
  })

  test('unknown Seats of a key are reported by path', async (t, store) => {
    await seat(store, 'A')
    await seat(store, 'theirs', ['one'], [], writer(ADMIN, 1, 'globex'))
    const seats = ['X', 'A', 'a', 'theirs']
    const result = await store.createApiKey(writer(), { name: 'k', seats, expiresAt: null })
    t.match(result, { faults: [{ path: '/seats/0' }, { path: '/seats/2' }, { path: '/seats/3' }] })
    t.equal(isRefusal(result) && result.faults?.length, 3)
  })

  test('names of Seats that no Seat can have are unknown', async (t, store) => {
    await seat(store, '\ufffd')
    for (const name of ['\0', '\ud800', 'x'.repeat(100_000)])
      t.equal(await tried(store).createKey([name]), 'input_invalid')
  })
})
