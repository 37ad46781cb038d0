/** Listings of the largest Seats, of their keys and of their users: bounded, without delaying other calls. For each driver. */

import type { Test } from 'tap'
import type { Store } from '../../../seats-admin/index.ts'
import {
  ADMIN,
  allSeats,
  column,
  done,
  everything,
  inSpace,
  key,
  PAGE,
  refused,
  seat,
  signedIn,
  tried,
  writer,
} from './conformance.ts'
import { grantOf } from './grant-conformance.ts'
import { allUsers } from './user-conformance.ts'

const list = (size: number, text: (at: number) => string) => Array.from({ length: size }, (_, at) => text(at))
/** 1.2 MB each, so that all of them take two of the ranges that a listing examines at once. */
const WIDE = list(40, (at) => `wide ${at}`)
const FAR = list(8, (at) => `far ${at}`)
const PERMISSIONS = list(30_000, (at) => `resource-${at}:read-everything-of-it`)
const SPACES = list(20_000, (at) => `a-space-with-a-name-${at}`)

/** The Seats, and after each of them a key of all that there are by then. */
async function fill(store: Store): Promise<void> {
  for (const [at, name] of [...WIDE, ...FAR].entries()) {
    if (at < WIDE.length) await seat(store, name, ['one'], PERMISSIONS)
    else await seat(store, name, SPACES)
    await key(store, [...WIDE, ...FAR].slice(0, at + 1), { name })
  }
}

/** @param openStore with a timeout long enough for large writes */
export function listings(t: Test, openStore: (t: Test) => Promise<Store>): void {
  t.test('among huge Seats', async (t) => {
    const store = await openStore(t)
    await fill(store)

    t.test('Seats and keys are found by what they grant', async (t) => {
      const page = (permission: string, space: string | null) => ({
        ...PAGE,
        grant: grantOf(permission, space),
      })
      const seatsOf = async (permission: string, space: string | null = null) => {
        const found = await everything((each) => store.listSeats('acme', each), page(permission, space))
        return column(found, 'name')
      }
      const keysOf = async (permission: string, space: string) => {
        const found = await everything((each) => store.listApiKeys('acme', each), page(permission, space))
        return found.map(({ name, seats }) => [name, seats.length])
      }
      t.same(await seatsOf('resource-29999:read-everything-of-it'), WIDE)
      t.same(await seatsOf('resource-30000:read-everything-of-it'), [])
      t.same(await seatsOf('a:b'), FAR)
      t.same(await seatsOf('a:b', 'a-space-with-a-name-19999'), FAR)
      t.same(await seatsOf('a:b', 'one'), [])
      t.same(
        await keysOf('a:b', 'a-space-with-a-name-1'),
        FAR.map((name, at) => [name, at + 1]),
      )
      t.same(await keysOf('resource-0:read-everything-of-it', 'one'), [
        ...WIDE.map((name, at) => [name, at + 1]),
        ...FAR.map((name) => [name, 40]),
      ])
    })

    t.test('users are found by what they hold', async (t) => {
      const ids = column(await allSeats(store), 'id')
      for (let at = 0; at < 12; at++)
        await store.recordSignIn('acme', signedIn(`u${at + 10}`), ids.slice(at, 40))
      const found = await allUsers(store, { grant: grantOf('resource-29999:read-everything-of-it', 'one') })
      t.same(
        found.map(({ sub, seats }) => [sub, seats.length]),
        list(12, (at) => `u${at + 10}`).map((sub, at) => [sub, 40 - at]),
      )
      t.same(await allUsers(store, { grant: grantOf('resource-30000:read-everything-of-it') }), [])
    })

    t.test('keys are listed without reading the content of their Seats', async (t) => {
      const scope = inSpace('mine', '*')
      const make = async (of: readonly string[]) => (await key(store, of)).id
      const all: string[] = []
      for (let at = 0; at < 60; at++) all.push(await make(WIDE))
      const [first = '', second = ''] = all
      const { data } = await store.listApiKeys('acme', { ...PAGE, limit: 60, after: first })
      t.ok(
        data.length === 59 && data.every(({ seats }) => seats.length === 40),
        'their content would be 3 GB',
      )
      t.same(done(await store.readApiKey('acme', first, ADMIN)).seats, WIDE)

      await seat(store, 'mine', ['mine'])
      const mine = await make(['mine'])
      const mixed = await make(['mine', ...WIDE])
      const seen = await store.listApiKeys('acme', { ...PAGE, scope })
      t.same(column(seen.data, 'id'), [mine])
      t.equal(refused(await store.readApiKey('acme', mine, scope)), 'not refused')
      for (const id of [mixed, second]) {
        t.equal(refused(await store.readApiKey('acme', id, scope)), 'api_key_not_found')
        t.equal(await tried(store, writer(scope)).revoke(id), 'api_key_not_found')
        t.equal(await tried(store).revoke(id), 'not refused')
      }
    })

    t.test('reads of administration have their own queue', async (t) => {
      // Its connection is open.
      await store.changesSince(null)
      const settled: string[] = []
      const note = (what: string) => () => settled.push(what)
      const { id } = (await store.seatByName('acme', 'wide 0')).value.seat ?? { id: '' }
      const lists = list(8, () => 'list').map((what) => store.listSeats('acme', PAGE).then(note(what)))
      const reads = list(8, () => 'read').map((what) => store.readSeat('acme', id, ADMIN).then(note(what)))
      const keys = store.listApiKeys('acme', PAGE).then(note('keys'))
      const feed = store.changesSince(null).then(note('feed'))
      await Promise.all([...lists, ...reads, keys, feed])
      // In one queue with them it would come last.
      t.not(settled.at(-1), 'feed', settled.join())
    })
  })

  t.test('keys of Seats with huge permissions are checked against all of them', async (t) => {
    const store = await openStore(t)
    const seats = list(3, (at) => `s${at}`)
    for (const name of seats) await seat(store, name, ['one'], PERMISSIONS)
    await seat(store, 'more', ['one'], [...PERMISSIONS, 'x:y'])
    const { createKey } = tried(store, writer(inSpace('one', ...PERMISSIONS)))
    t.equal(await createKey(seats), 'not refused')
    t.equal(await createKey([...seats, 'more']), 'grant_exceeds_own')
    t.equal(await createKey(['more', ...seats]), 'grant_exceeds_own')
  })

  t.test('a page ends at 256 KiB, and the next one continues after it', async (t) => {
    const store = await openStore(t)
    const spaces = list(6666, (at) => `space-${at}`)
    for (let at = 0; at < 12; at++) await seat(store, `s${at}`, spaces, [])
    const sizes: number[] = []
    const seats = await everything(async (page) => {
      const found = await store.listSeats('acme', page)
      sizes.push(found.data.length)
      return found
    }, PAGE)
    t.same(
      column(seats, 'name'),
      list(12, (at) => `s${at}`),
    )
    t.same(sizes, [4, 4, 4], '80 KB each; the last page is exact')
  })
}
