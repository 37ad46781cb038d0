/** What a push of route tables changes, by the Seats as they are. */

import type { ListedSeat, Store } from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import { inSlices } from '../lib/time-slices.ts'
import { type Change, changesOf, type GrantingSeat } from './access-change.ts'
import { type Difference, differenceSteps } from './difference.ts'
import { type BuiltInPaths, compiledTables } from './table-comparison.ts'
import type { Tables } from './tables.ts'

/** The time of a slice in ms: other requests are served between two of them. */
const SLICES = { work: 5, pause: 1 }
const PAGE = 1000
const EVERYTHING = { space: '', admin: true, all: true, permissions: [] }

export interface PlanDeps {
  readonly store: Pick<Store, 'listSeats'>
  /** The tables that decide requests. */
  readonly tables: () => Tables
}

/**
 * The changes from the active tables to those of a configuration, as `seatgate diff` shows them.
 *
 * @param tenant the tenant whose Seats gain or lose
 */
export async function plannedChanges(
  { store, tables }: PlanDeps,
  builtInPaths: BuiltInPaths,
  next: Config,
  tenant: string,
): Promise<Change[]> {
  const before = tables()
  const seats = await grantingSeats(store, tenant)
  const after = await inSlices(compiledTables(next, builtInPaths), SLICES, NEVER)
  const differences = await inSlices(allDifferences(before, after), SLICES, NEVER)
  return changesOf(differences, seats)
}

const NEVER = new AbortController().signal

function* allDifferences(before: Tables, after: Tables): Generator<null, Difference[]> {
  const all: Difference[] = []
  for (const difference of differenceSteps(before, after)) {
    yield null
    if (difference !== null) all.push(difference)
  }
  return all
}

/** All Seats of the tenant. Many of them have the same permissions, and share a set. */
async function grantingSeats(store: PlanDeps['store'], tenant: string): Promise<GrantingSeat[]> {
  const sets = new Map<string, ReadonlySet<string>>()
  const seats: GrantingSeat[] = []
  for (let after: string | null = null; ;) {
    const { data, next } = await store.listSeats(tenant, { limit: PAGE, after, scope: EVERYTHING })
    for (const { name, permissions } of data as readonly ListedSeat[]) {
      const key = JSON.stringify(permissions)
      const set = sets.get(key) ?? new Set(permissions)
      sets.set(key, set)
      seats.push({ tenant, name, permissions: set })
    }
    if (next === null) return seats
    after = next
  }
}
