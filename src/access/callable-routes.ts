/** The routes that the holder of some Seats may call, by space. */

import { EVERY_PERMISSION, holds } from '../../seats-admin/model/permission.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import { LruBudget, LruMap, ONE_OWNER } from '../lib/lru-maps.ts'
import { hostsLabel, isAddress } from '../model/host.ts'
import { needsPermission, type Route, takesTenant, upstreamOf } from '../model/route.ts'
import type { AccessRow } from './answers.ts'

/** A Seat with what matters for the routes of a table. Of a holder, those that end come last. */
export interface HeldSeat {
  readonly name: string
  /**
   * The end in ms since the epoch, if the holder has it by grants alone; null, or left out: it does not end.
   */
  readonly until?: number | null
  readonly spaces: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
}

export interface Holdings {
  /** Whether the credential is accepted; false also for a blocked user, who may call public routes only. */
  readonly accepted: boolean
  readonly seats: readonly HeldSeat[]
}

interface RowsOptions {
  /** The tenant of the holder. */
  readonly tenant: string
  /** The space; null: every space that one of the Seats lists. */
  readonly space: string | null
  /** Whether allowed routes are listed; false: the routes that the holder may not call. */
  readonly allowed: boolean
  /** The row before the first one, as {@link rowId} names it. */
  readonly after?: string | null
}

/**
 * Drops other spaces and permissions without a route. Large Seats share their texts.
 *
 * @param space null: all
 */
export function holdingOf(
  routes: readonly Route[],
  space: string | null,
): (seat: SeatInput, until?: number | null) => HeldSeat {
  const required = new Map(routes.map(({ requirement }) => [requirement, requirement]))
  required.set(EVERY_PERMISSION, EVERY_PERMISSION)
  const texts = new Map<string, string>()
  const shared = (text: string) => texts.get(text) ?? (texts.set(text, text), text)
  return ({ name, spaces, permissions }, until = null) => ({
    name,
    until,
    spaces: new Set(spaces.filter((each) => space === null || each === space).map(shared)),
    permissions: new Set(permissions.flatMap((each) => required.get(each) ?? [])),
  })
}

/** One row for each route and space, in the order of the tables; none if `after` is no row. */
export function* accessRows(
  routes: readonly Route[],
  holdings: Holdings,
  options: RowsOptions,
): Generator<AccessRow> {
  for (const row of accessSteps(routes, holdings, options)) if (row !== null) yield row
}

/** The rows in steps of bounded work; null is a step without a row. */
export function* accessSteps(
  routes: readonly Route[],
  { accepted, seats }: Holdings,
  { tenant, space, allowed, after = null }: RowsOptions,
): Generator<AccessRow | null> {
  const held = accepted ? seats : []
  const spaces = space === null ? yield* spacesOf(seats) : [space]
  const grants = granting(held, spaces)
  const { at, space: last } = after === null ? { at: -1, space: null } : placeOf(routes, after)
  for (const [index, route] of routes.entries()) {
    if (index < at) continue
    for (const row of rowsOf(route, takesTenant(route, tenant), accepted, allowed, spaces, grants))
      if (row === null || index > at || (row.space !== null && last !== null && row.space > last)) yield row
      else yield null
  }
}

/** The number of spaces that one step handles. */
const SOME = 4000

/** The spaces of the Seats, sorted, in steps: to sort 100,000 texts at once takes some 80 ms. */
function* spacesOf(seats: readonly HeldSeat[]): Generator<null, string[]> {
  const all = new Set<string>()
  for (const { spaces } of seats) {
    for (const space of spaces) all.add(space)
    yield null
  }
  const texts = [...all]
  let lists: string[][] = []
  for (let at = 0; at < texts.length; at += SOME) {
    lists.push(texts.slice(at, at + SOME).sort())
    yield null
  }
  while (lists.length > 1) {
    const longer: string[][] = []
    for (let at = 0; at < lists.length; at += 2)
      longer.push(yield* merged(lists[at] ?? [], lists[at + 1] ?? []))
    lists = longer
  }
  return lists[0] ?? []
}

function* merged(one: readonly string[], other: readonly string[]): Generator<null, string[]> {
  const all: string[] = []
  for (let [i, j] = [0, 0]; i < one.length || j < other.length;) {
    const [a, b] = [one[i], other[j]]
    if (b === undefined || (a !== undefined && a < b)) {
      all.push(a ?? '')
      i++
    } else {
      all.push(b)
      j++
    }
    if (all.length % SOME === 0) yield null
  }
  return all
}

/** Whether a route of the tables has rows of this id. */
export function isRowId(routes: readonly Route[], id: string): boolean {
  return placeOf(routes, id).at < routes.length
}

function placeOf(routes: readonly Route[], id: string): { at: number; space: string | null } {
  const [method, path, space = null, ...rest] = id.split(' ')
  const at = routes.findIndex(({ id }) => id === `${method} ${path}`)
  return { at: at < 0 || rest.length > 0 ? routes.length : at, space }
}

/** The id of a row, unique in an answer: methods, hosts, paths and spaces have no space character. */
export function rowId({ method, host, path, space }: AccessRow): string {
  const id = `${method} ${host === undefined ? '' : hostsLabel(host.split(','))}${path}`
  return space === null ? id : `${id} ${space}`
}

/**
 * The rows of a route.
 *
 * @param isOwn whether the route takes callers of the tenant
 * @param spaces the spaces of the holder, or the one of the question
 */
function* rowsOf(
  route: Route,
  isOwn: boolean,
  accepted: boolean,
  allowed: boolean,
  spaces: readonly string[],
  grants: ReturnType<typeof granting>,
): Generator<AccessRow | null> {
  const { requirement, target } = route
  if (!isOwn) {
    if (!allowed) yield rowOf(route, null, null)
    return
  }
  // Sign-in is not configured: the gateway answers as if there were no route.
  if (target.kind === 'public' && target.handler === null) return
  if (!needsPermission(requirement)) {
    if (allowed && (accepted || requirement === 'public')) yield rowOf(route, null, null)
    return
  }
  const granted = yield* grants(requirement)
  const isPossible = possibleSpaces(route)
  if (allowed) {
    for (const [space, seat] of granted) yield isPossible(space) ? rowOf(route, space, seat) : null
  } else if (spaces.length === 0) yield rowOf(route, null, null)
  else
    for (const space of spaces)
      yield granted.has(space) && isPossible(space) ? null : rowOf(route, space, null)
}

/** Whether a request of the route can have the space: its table may fix it, or read it from its own hosts. */
export function possibleSpaces({ space: source, hosts }: Route): (space: string) => boolean {
  if (source.kind === 'fixed') return (space) => space === source.space
  if (source.kind !== 'host_label' || hosts.length === 0) return () => true
  const labels = new Set(hosts.map((host) => (isAddress(host) ? '' : host.split('.')[source.label - 1])))
  return (space) => labels.has(space) || (labels.has('*') && LABEL.test(space))
}

/** A label of a host, in lower case. */
const LABEL = /^[a-z0-9_-]{1,63}$/

function rowOf(route: Route, space: string | null, seat: HeldSeat | null): AccessRow {
  const { method, hosts, path, requirement } = route
  const host = hosts.length === 0 ? {} : { host: hosts.join(',') }
  const { name = null, until = null } = seat ?? {}
  return {
    ...{ method, path, ...host, permission: requirement, upstream: upstreamOf(route), space },
    seat: name,
    ...(until === null ? {} : { until: new Date(until).toISOString() }),
  }
}

/** The most entries of cached answers, at some 50 bytes each. */
const MAX_REMEMBERED = 200_000

/** The first Seat that grants a permission, by space. Routes of one permission share the answer. */
function granting(seats: readonly HeldSeat[], spaces: readonly string[]) {
  const named = new Set(seats.flatMap(({ permissions }) => [...permissions]))
  const cache = new LruMap<ReadonlyMap<string, HeldSeat>>(
    new LruBudget(MAX_REMEMBERED, 1),
    // A larger map is cached alone: it would be computed again for each route.
    (_owner, _permission, { size }) => Math.min(Math.max(size, 1), MAX_REMEMBERED),
  )
  return function* (permission: string): Generator<null, ReadonlyMap<string, HeldSeat>> {
    // Permissions that no Seat names are granted by the same Seats: those that hold every permission.
    const key = named.has(permission) ? permission : EVERY_PERMISSION
    const bySpace = cache.get(ONE_OWNER, key)?.value ?? (yield* firstGranting(seats, spaces, key))
    cache.set(ONE_OWNER, key, bySpace)
    return bySpace
  }
}

function* firstGranting(
  seats: readonly HeldSeat[],
  spaces: readonly string[],
  permission: string,
): Generator<null, ReadonlyMap<string, HeldSeat>> {
  const first = new Map<string, HeldSeat>()
  for (const seat of seats) {
    if (!holds(seat.permissions, permission)) continue
    for (const space of seat.spaces) if (!first.has(space)) first.set(space, seat)
    yield null
  }
  const bySpace = new Map<string, HeldSeat>()
  if (first.size === 0) return bySpace
  for (const [at, space] of spaces.entries()) {
    const seat = first.get(space)
    if (seat !== undefined) bySpace.set(space, seat)
    if (at % SOME === 0) yield null
  }
  return bySpace
}
