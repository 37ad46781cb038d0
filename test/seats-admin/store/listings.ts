/** Listings of the largest Seats and of their keys: bounded, without delaying other calls. For each driver. */

import type { Test } from 'tap'
import type { Page, Store } from '../../../seats-admin/index.ts'
import { ADMIN, done, inSpace, refused, writer } from './conformance.ts'

const SPACES = Array.from({ length: 100_000 }, (_, at) => `space-${at}`)
export const ALL: Page = { limit: 100, after: null, scope: ADMIN }

/** The names of all Seats, read by page. */
export async function allNames(store: Store): Promise<string[]> {
  const found: string[] = []
  for (let after: string | null = null, more = true; more;) {
    const { data, hasMore } = await store.listSeats('acme', { ...ALL, after })
    found.push(...data.map((each) => each.name))
    after = data.at(-1)?.id ?? null
    more = hasMore
  }
  return found
}

/** @param openStore with a timeout long enough for large writes */
export function listings(t: Test, openStore: (t: Test) => Promise<Store>): void {
  const withSeats = async (t: Test, count: number, spaces: readonly string[]) => {
    const store = await openStore(t)
    for (let at = 0; at < count; at++)
      done(await store.createSeat(writer(), { name: `s${at}`, spaces, permissions: [] }))
    return store
  }

  t.test('keys of huge Seats are listed without reading the content of the Seats', async (t) => {
    const store = await withSeats(t, 40, SPACES)
    const seats = Array.from({ length: 40 }, (_, at) => `s${at}`)
    for (let at = 0; at < 60; at++)
      done(await store.createApiKey(writer(), { name: 'k', seats, expiresAt: null }))
    const { data } = await store.listApiKeys('acme', ALL)
    t.equal(data.length, 60, 'all their spaces would be 3 GB')
    t.ok(data.every((key) => key.seats.length === 40))
    t.same(done(await store.readApiKey('acme', data[0]?.id ?? '', ADMIN)).seats, seats)

    const scope = inSpace('one', '*')
    done(await store.createSeat(writer(), { name: 'mine', spaces: ['one'], permissions: [] }))
    const make = (of: string[]) => store.createApiKey(writer(), { name: 'k', seats: of, expiresAt: null })
    const mine = done(await make(['mine'])).value.id
    const mixed = done(await make(['mine', ...seats])).value.id
    const seen = await store.listApiKeys('acme', { ...ALL, scope })
    t.same(
      seen.data.map((key) => key.id),
      [mine],
    )
    t.equal(refused(await store.readApiKey('acme', mine, scope)), 'not refused')
    for (const id of [mixed, data[0]?.id ?? '']) {
      t.equal(refused(await store.readApiKey('acme', id, scope)), 'api_key_not_found')
      t.equal(refused(await store.revokeApiKey(writer(scope), id)), 'api_key_not_found')
      t.equal(refused(await store.revokeApiKey(writer(), id)), 'not refused')
    }
  })

  t.test('keys of Seats with huge permissions are checked against all of them', async (t) => {
    const store = await openStore(t)
    const permissions = Array.from({ length: 80_000 }, (_, at) => `resource-${at}:read`)
    const seats = Array.from({ length: 6 }, (_, at) => `s${at}`)
    for (const name of seats) done(await store.createSeat(writer(), { name, spaces: ['one'], permissions }))
    done(
      await store.createSeat(writer(), {
        name: 'more',
        spaces: ['one'],
        permissions: [...permissions, 'x:y'],
      }),
    )
    const as = writer(inSpace('one', ...permissions))
    const make = async (of: string[]) =>
      refused(await store.createApiKey(as, { name: 'k', seats: of, expiresAt: null }))
    t.equal(await make(seats), 'not refused')
    t.equal(await make([...seats, 'more']), 'grant_exceeds_own')
    t.equal(await make(['more', ...seats]), 'grant_exceeds_own')
  })

  t.test('a page ends at 256 KiB, and the next one continues after it', async (t) => {
    const store = await withSeats(t, 12, SPACES.slice(0, SPACES.length / 15))
    const sizes: number[] = []
    const names: string[] = []
    for (let after: string | null = null, more = true; more;) {
      const { data, hasMore } = await store.listSeats('acme', { ...ALL, after })
      sizes.push(data.length)
      names.push(...data.map((each) => each.name))
      after = data.at(-1)?.id ?? null
      more = hasMore
    }
    t.same(
      names,
      Array.from({ length: 12 }, (_, at) => `s${at}`),
    )
    t.same(sizes, [4, 4, 4], '80 KB each; the last page is exact')
  })

  t.test('reads of administration have their own queue', async (t) => {
    const store = await withSeats(t, 8, SPACES)
    // Its connection is open.
    await store.changesSince(null)
    const settled: string[] = []
    const note = (what: string) => () => settled.push(what)
    const lists = Array.from({ length: 8 }, () => store.listSeats('acme', ALL).then(note('list')))
    const { id } = (await store.seatByName('acme', 's0')).value.seat ?? { id: '' }
    const reads = Array.from({ length: 8 }, () => store.readSeat('acme', id, ADMIN).then(note('read')))
    const keys = store.listApiKeys('acme', ALL).then(note('keys'))
    const feed = store.changesSince(null).then(note('feed'))
    await Promise.all([...lists, ...reads, keys, feed])
    // In one queue with them it would come last.
    t.not(settled.at(-1), 'feed', settled.join())
  })
}
