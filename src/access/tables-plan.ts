/** What a push of route tables changes, by the Seats as they are. */

import type { ListedSeat, Store } from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import { BETWEEN_REQUESTS, inSlices } from '../lib/time-slices.ts'
import { type Change, type ChangeOf, changeSteps } from './access-change.ts'
import { type Difference, differenceSteps } from './difference.ts'
import {
  CallerComparison,
  callerGroups,
  type CallerLists,
  firstMoved,
  type Moved,
  type MovedCallers,
  type PlacedSeat,
} from './moved-callers.ts'
import { type BuiltInPaths, compiledTables } from './table-comparison.ts'
import type { Tables } from './tables.ts'

const PAGE = 1000
/** The most names of one answer: without a limit, 10,000 changes could each have 600. */
const MOST_NAMES = 20_000
const EVERYTHING = { space: '', admin: true, all: true, permissions: [] }

export interface PlanDeps {
  readonly store: Pick<Store, 'listSeats'> & CallerLists
  /** The tables that decide requests. */
  readonly tables: () => Tables
}

/** A change of a plan. Names that are left out are counted. */
export type PlannedChange = Omit<Change, 'seats'> & { readonly seats: Moved<string> } & Partial<MovedCallers>

interface PlanQuestion {
  readonly next: Config
  /** The tenant whose Seats, users and API keys gain or lose. */
  readonly tenant: string
  /** Milliseconds since the epoch; null: users and API keys are left out. */
  readonly callersAt: number | null
}

/** The changes from the active tables to those of a configuration, as `seatgate diff` shows them. */
export async function plannedChanges(
  { store, tables }: PlanDeps,
  builtInPaths: BuiltInPaths,
  { next, tenant, callersAt }: PlanQuestion,
): Promise<PlannedChange[]> {
  const before = tables()
  const after = await inSlices(compiledTables(next, builtInPaths), BETWEEN_REQUESTS)
  const differences = await inSlices(allDifferences(before, after), BETWEEN_REQUESTS)
  if (differences.length === 0) return []
  const seats = await placedSeats(store, tenant)
  const changes = await inSlices(changeSteps(differences, seats), BETWEEN_REQUESTS)
  const groups = callersAt === null ? null : await callerGroups(store, tenant, callersAt)
  const callers = groups === null ? null : new CallerComparison(tenant, seats, groups)
  return inSlices(named(changes, callers), BETWEEN_REQUESTS)
}

/** @param callers null: they are left out */
function* named(
  changes: readonly ChangeOf[],
  callers: CallerComparison | null,
): Generator<null, PlannedChange[]> {
  let room = MOST_NAMES
  const fitted = <V>(moved: Moved<V>): Moved<V> => {
    const count = moved.gain.length + moved.lose.length
    if (count > room) return { ...moved, gain: [], lose: [] }
    room -= count
    return moved
  }
  const planned: PlannedChange[] = []
  for (const { change, difference } of changes) {
    yield null
    const { gain = [], lose = [] } = change.seats ?? {}
    const seats = fitted(firstMoved(gain, lose))
    const moved = callers === null ? null : yield* callers.moved(difference.before, difference.after)
    const more = moved === null ? {} : { users: fitted(moved.users), api_keys: fitted(moved.api_keys) }
    planned.push({ ...change, seats, ...more })
  }
  return planned
}

function* allDifferences(before: Tables, after: Tables): Generator<null, Difference[]> {
  const all: Difference[] = []
  for (const difference of differenceSteps(before, after)) {
    yield null
    if (difference !== null) all.push(difference)
  }
  return all
}

/** All Seats of the tenant. Many of them have the same permissions, and share a set. */
async function placedSeats(store: PlanDeps['store'], tenant: string): Promise<PlacedSeat[]> {
  const sets = new Map<string, ReadonlySet<string>>()
  const seats: PlacedSeat[] = []
  for (let after: string | null = null; ;) {
    const { data, next } = await store.listSeats(tenant, { limit: PAGE, after, scope: EVERYTHING })
    for (const { name, spaces, permissions } of data as readonly ListedSeat[]) {
      const key = JSON.stringify(permissions)
      const set = sets.get(key) ?? new Set(permissions)
      sets.set(key, set)
      seats.push({ tenant, name, spaces, permissions: set })
    }
    if (next === null) return seats
    after = next
  }
}
