/** Listings by what is granted among 45,000 Seats. For each driver. */

import type { Test } from 'tap'
import type { Listing, Page, Store } from '../../../seats-admin/index.ts'
import { ADMIN, column, everything } from './conformance.ts'
import { grantOf } from './grant-conformance.ts'

/** More than two of the ranges that a call examines. */
const COUNT = 45_000

interface SeatRow {
  readonly id: string
  readonly name: string
  /** JSON. */
  readonly spaces: string
  readonly permissions: string
}

/** 2,000 different lists of 5 to 30 permissions, in 1 to 5 spaces. Each 5,000th Seat has one more, each 50th list another. */
export function* seatRows(): Generator<SeatRow> {
  const list = (size: number, text: (at: number) => string) =>
    Array.from({ length: size }, (_, at) => text(at))
  for (let at = 0; at < COUNT; at++) {
    const set = (at * 7919) % 2000
    const permissions = list(5 + (set % 26), (each) => `resource-${(set * 31 + each * 7) % 400}:op-${each}`)
    if (set % 50 === 7) permissions.push('reports:export')
    if (at % 5000 === 17) permissions.push('ledger:close')
    yield {
      id: `01J${String(at).padStart(23, '0')}`,
      name: `Seat ${at}`,
      spaces: JSON.stringify(list(1 + (at % 5), (each) => `space-${(at + each) % 200}`)),
      permissions: JSON.stringify(permissions),
    }
  }
}

/** @param openStore of a store with {@link seatRows} of the tenant `acme` */
export function grantScale(t: Test, openStore: (t: Test) => Promise<Store>): void {
  t.test('what grants is found among 45,000 Seats in pages that examine a part each', async (t) => {
    const store = await openStore(t)
    const pages: Listing<{ readonly id: string; readonly permissions: readonly string[] }>[] = []
    const list = async (page: Page) => {
      const found = await store.listSeats('acme', page)
      pages.push(found)
      return found
    }
    const idsOf = async (permission: string, space: string | null, limit: number) => {
      pages.length = 0
      const grant = grantOf(permission, space)
      return column(await everything(list, { limit, scope: ADMIN, grant }), 'id')
    }
    const rows = [...seatRows()]
    const holding = (permission: string, space = '"') =>
      rows
        .filter((row) => row.permissions.includes(`"${permission}"`) && row.spaces.includes(space))
        .map(({ id }) => id)

    const rare = await idsOf('ledger:close', null, 100)
    t.equal(rare.length, 9)
    t.same(rare, holding('ledger:close'))
    t.ok(pages.length > 1, 'no call examined all')
    t.ok(pages.every(({ data }) => data.every((seat) => seat.permissions.join() === 'ledger:close')))

    t.equal((await idsOf('reports:export', null, 100)).length, 900)
    t.same(await idsOf('reports:export', null, 1000), holding('reports:export'))
    t.same(await idsOf('reports:export', 'space-7', 10), holding('reports:export', '"space-7"'))

    t.same(await idsOf('no:such', null, 100), [])
    t.ok(pages.length > 1 && pages.slice(0, -1).every(({ next }) => next !== null), 'empty pages lead on')
  })
}
