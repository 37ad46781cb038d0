/** The meaning of a difference between two route tables: who may do more, who may do less. */

import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import { needsPermission, type Place, type Route, takesTenant, upstreamOf } from '../model/route.ts'
import { isSpaceHeader, sourceText } from '../model/space-source.ts'
import { type Difference, differenceSteps, spaceOf } from './difference.ts'
import type { Tables } from './tables.ts'

/** The kinds by weight, most important first. `limits`: other timeouts, sizes, rate limits or sign-in. */
export const KINDS = [
  'became_public',
  'loosened',
  'added',
  'changed',
  'tightened',
  'removed',
  'rerouted',
  'limits',
] as const

export type ChangeKind = (typeof KINDS)[number]

/** A Seat of a tenant, with the permissions that it grants. */
export interface GrantingSeat {
  readonly tenant: string
  readonly name: string
  readonly permissions: ReadonlySet<string>
}

/** The changes, by weight of the kind, then by pattern. @param seats null: unknown */
export function changesOf(
  differences: readonly Difference[],
  seats: readonly GrantingSeat[] | null,
): Change[] {
  const steps = changeSteps(differences, seats)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value.map(({ change }) => change)
  }
}

/** A change with the difference that it is about. */
export interface ChangeOf {
  readonly change: Change
  readonly difference: Difference
}

/** What {@link changesOf} returns, in small steps: Seats are compared once for each pair of requirements. */
export function* changeSteps(
  differences: readonly Difference[],
  seats: readonly GrantingSeat[] | null,
): Generator<null, ChangeOf[]> {
  const byPair = new Map<string, MovedSeats>()
  const index = seats === null ? null : new SeatIndex(seats)
  const changes: (ChangeOf & Sortable)[] = []
  for (const difference of differences) {
    yield null
    const { before, after } = difference
    const pair = JSON.stringify([before, after].map((route) => route && [route.requirement, route.tenant]))
    const moved = index === null ? null : (byPair.get(pair) ?? movedSeats(before, after, index))
    if (moved !== null) byPair.set(pair, moved)
    const change = changeOf(difference, moved)
    changes.push({ change, difference, ...sortable(change) })
  }
  return changes.sort(byWeight)
}

function changeOf({ before, after, witness }: Difference, moved: MovedSeats | null) {
  const shown = after ?? before
  return {
    kind: kindOf(before, after, moved),
    // The method of the entry that answers now, or else of the former one.
    method: shown?.method ?? witness.method,
    // The hosts, joined by commas; absent for the hosts that no table names.
    ...(shown === null || shown.hosts.length === 0 ? {} : { host: shown.hosts.join(',') }),
    pattern: shown?.path ?? witness.path,
    witness,
    old: viewOf(before),
    new: viewOf(after),
    // The names of Seats, if Seats are known.
    ...(moved === null ? {} : { seats: moved }),
  }
}

export type Change = ReturnType<typeof changeOf>

type MovedSeats = ReturnType<typeof movedSeats>

function movedSeats(before: Route | null, after: Route | null, index: SeatIndex) {
  const [had, has] = [index.mayUse(before), index.mayUse(after)]
  return { gain: [...has.difference(had)].sort(), lose: [...had.difference(has)].sort() }
}

/** Seats by each of their permissions: most pairs of requirements are about few of them. */
class SeatIndex {
  readonly #all: readonly GrantingSeat[]
  readonly #byPermission = new Map<string, GrantingSeat[]>()

  constructor(seats: readonly GrantingSeat[]) {
    this.#all = seats
    for (const seat of seats)
      for (const permission of seat.permissions) {
        const list = this.#byPermission.get(permission)
        if (list === undefined) this.#byPermission.set(permission, [seat])
        else list.push(seat)
      }
  }

  /** The names of those that may use an entry. Every Seat may use `public` and `authenticated`. */
  mayUse(route: Route | null): Set<string> {
    if (route === null) return new Set()
    const { requirement } = route
    const may = needsPermission(requirement)
      ? [requirement, EVERY_PERMISSION].flatMap((each) => this.#byPermission.get(each) ?? [])
      : this.#all
    return new Set(may.filter(({ tenant }) => takesTenant(route, tenant)).map(({ name }) => name))
  }
}

/** The rank of an entry: a lower one requires less. All permissions have the same rank. */
function rankOf({ requirement }: Route): number {
  if (needsPermission(requirement)) return 2
  return requirement === 'public' ? 0 : 1
}

function kindOf(before: Route | null, after: Route | null, moved: MovedSeats | null): ChangeKind {
  if (after === null) return 'removed'
  if (after.requirement === 'public' && before?.requirement !== 'public') return 'became_public'
  if (before === null) return 'added'
  // Seats of another space decide: neither entry is the wider one, unless one requires no Seat.
  if (spaceOf(before) !== spaceOf(after) && needsPermission(after.requirement))
    return needsPermission(before.requirement) ? 'changed' : 'tightened'
  if (before.tenant !== after.tenant && after.requirement !== 'public') return ofTenants(before, after)
  if (before.requirement === after.requirement) return isSamePlace(before, after) ? 'limits' : 'rerouted'
  const step = rankOf(after) - rankOf(before)
  if (step !== 0) return step < 0 ? 'loosened' : 'tightened'
  return ofPermissions(moved)
}

/** The kind of a change of tenants, whatever else differs. An entry without a tenant takes all callers. */
function ofTenants(before: Route, after: Route): ChangeKind {
  const step = rankOf(after) - rankOf(before)
  if (before.tenant === null && step >= 0) return 'tightened'
  return after.tenant === null && step <= 0 ? 'loosened' : 'changed'
}

function isSamePlace(one: Route, other: Route): boolean {
  const rewrites = [one, other].map(({ rewrite }) => JSON.stringify(rewrite))
  return upstreamOf(one) === upstreamOf(other) && rewrites[0] === rewrites[1]
}

/** The kind of a change of permissions: which of two is the wider one depends on the Seats. */
function ofPermissions(moved: MovedSeats | null): ChangeKind {
  const [gain, lose] = [moved?.gain.length ?? 0, moved?.lose.length ?? 0]
  if (gain > 0 && lose === 0) return 'loosened'
  return lose > 0 && gain === 0 ? 'tightened' : 'changed'
}

/** The file name of a built-in route. */
export const BUILT_IN = '(built in)'

/** What an entry requires, and its place. Line 0 means a built-in route. */
function viewOf(route: Route | null) {
  if (route === null) return null
  const { requirement: permission, tenant, rewrite, space } = route
  const { file, line } = route.place ?? NOWHERE
  return {
    permission,
    upstream: upstreamOf(route),
    // The tenant; absent if callers of every tenant are accepted.
    ...(tenant === null ? {} : { tenant }),
    // The source of the space; absent for the header Space.
    ...(isSpaceHeader(space) ? {} : { space: sourceText(space) }),
    // The prefix that is removed from the forwarded path.
    ...(rewrite === null || rewrite.strip === '' ? {} : { strip_prefix: rewrite.strip }),
    // The prefix that is added to the forwarded path.
    ...(rewrite === null || rewrite.base === '' ? {} : { base_path: rewrite.base }),
    file,
    line,
  }
}

export type EntryView = NonNullable<ReturnType<typeof viewOf>>

const NOWHERE: Pick<Place, 'file' | 'line'> = { file: BUILT_IN, line: 0 }

interface Sortable {
  readonly weight: number
  readonly name: string
}

function sortable({ kind, host = '', pattern, method }: Change): Sortable {
  return { weight: KINDS.indexOf(kind), name: `${host}${pattern} ${method}` }
}

function byWeight(one: Sortable, other: Sortable): number {
  if (one.weight !== other.weight) return one.weight - other.weight
  if (one.name === other.name) return 0
  return one.name < other.name ? -1 : 1
}

/** The changes of a reload, in bounded memory: the number of each kind, and the most important ones. */
export interface ChangeSummary {
  /** The number of changes by kind, by weight. Kinds without a change are left out. */
  readonly counts: Readonly<Partial<Record<ChangeKind, number>>>
  /** The first changes by weight; within a kind, those with the shortest example first. */
  readonly first: readonly Change[]
  /** Whether all changes are counted; false if the comparison was given up. */
  readonly complete: boolean
}

export interface SummaryBounds {
  /** The length of `first`. */
  readonly shown: number
  /** The number of steps after which the comparison is given up: memory and time grow with them. */
  readonly steps: number
}

/** The summary, in small steps. Seats are unknown, so another permission is `changed`. */
export function* changeSummary(
  before: Tables,
  after: Tables,
  { shown, steps }: SummaryBounds,
): Generator<null, ChangeSummary> {
  const byKind = new Map<ChangeKind, { count: number; readonly first: Change[] }>(
    KINDS.map((kind) => [kind, { count: 0, first: [] }]),
  )
  let complete = true
  let taken = 0
  for (const difference of differenceSteps(before, after)) {
    if (++taken > steps) {
      complete = false
      break
    }
    yield null
    if (difference === null) continue
    const change = changeOf(difference, null)
    const ofKind = byKind.get(change.kind)
    if (ofKind === undefined) continue
    ofKind.count++
    if (ofKind.first.length < shown) ofKind.first.push(change)
  }
  const some = [...byKind].filter(([, { count }]) => count > 0)
  return {
    counts: Object.fromEntries(some.map(([kind, { count }]) => [kind, count])),
    first: some.flatMap(([, { first }]) => first).slice(0, shown),
    complete,
  }
}
