/** Can: the routes that the holder of some Seats may call, by space. */

import { LRUCache } from 'lru-cache'
import { EVERY_PERMISSION, holds } from '../../seats-admin/model/permission.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import { hostsLabel, isAddress } from '../model/host.ts'
import { needsPermission, type Route, takesTenant, upstreamOf } from '../model/route.ts'
import type { AccessRow } from './answers.ts'

/** A Seat as far as it grants routes of a table. */
export interface HeldSeat {
  readonly name: string
  readonly spaces: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
}

export interface Holdings {
  /** False: the credential is not accepted (any more), or the user is blocked: public routes alone are allowed. */
  readonly accepted: boolean
  readonly seats: readonly HeldSeat[]
}

interface RowsOptions {
  /** Of the holder. */
  readonly tenant: string
  /** Null: every space that one of the Seats lists. */
  readonly space: string | null
  /** False: the routes that the holder may not call. */
  readonly allowed: boolean
  /** The row before the first, as {@link rowId} names it. */
  readonly after?: string | null
}

/**
 * Drops the permissions that no route requires, and other spaces. Seats with thousands of either share their texts.
 *
 * @param space null: all
 */
export function holdingOf(routes: readonly Route[], space: string | null): (seat: SeatInput) => HeldSeat {
  const asked = new Map(routes.map(({ requirement }) => [requirement, requirement]))
  asked.set(EVERY_PERMISSION, EVERY_PERMISSION)
  const known = new Map<string, string>()
  const shared = (text: string) => known.get(text) ?? (known.set(text, text), text)
  return ({ name, spaces, permissions }) => ({
    name,
    spaces: new Set(spaces.filter((each) => space === null || each === space).map(shared)),
    permissions: new Set(permissions.flatMap((each) => asked.get(each) ?? [])),
  })
}

/** One row for each route and space, in the order of the tables. None behind a row that there is not. */
export function* accessRows(
  routes: readonly Route[],
  { accepted, seats }: Holdings,
  { tenant, space, allowed, after = null }: RowsOptions,
): Generator<AccessRow> {
  const held = accepted ? seats : []
  const spaces = space === null ? [...new Set(seats.flatMap((seat) => [...seat.spaces]))].sort() : [space]
  const grants = granting(held, spaces)
  const { at, space: last } = after === null ? { at: -1, space: null } : placeOf(routes, after)
  for (const [index, route] of routes.entries()) {
    if (index < at) continue
    for (const row of rowsOf(route, takesTenant(route, tenant), accepted, allowed, spaces, grants))
      if (index > at || (row.space !== null && last !== null && row.space > last)) yield row
  }
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

/** Unique among the rows of one answer: neither methods nor hosts nor paths nor spaces contain a space character. */
export function rowId({ method, host, path, space }: AccessRow): string {
  const id = `${method} ${host === undefined ? '' : hostsLabel(host.split(','))}${path}`
  return space === null ? id : `${id} ${space}`
}

/** @param isOwn the route takes callers of the tenant @param spaces of the holder, or the one that is asked about */
function* rowsOf(
  route: Route,
  isOwn: boolean,
  accepted: boolean,
  allowed: boolean,
  spaces: readonly string[],
  grants: ReturnType<typeof granting>,
): Generator<AccessRow> {
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
  const granted = grants(requirement)
  const isPossible = possibleSpaces(route)
  if (allowed) {
    for (const [space, seat] of granted) if (isPossible(space)) yield rowOf(route, space, seat)
  } else if (spaces.length === 0) yield rowOf(route, null, null)
  else
    for (const space of spaces) if (!granted.has(space) || !isPossible(space)) yield rowOf(route, space, null)
}

/** Whether some request of the route has the space: its table may fix it, or read it from its own hosts. */
export function possibleSpaces({ space: source, hosts }: Route): (space: string) => boolean {
  if (source.kind === 'fixed') return (space) => space === source.space
  if (source.kind !== 'host_label' || hosts.length === 0) return () => true
  const labels = new Set(hosts.map((host) => (isAddress(host) ? '' : host.split('.')[source.label - 1])))
  return (space) => labels.has(space) || (labels.has('*') && LABEL.test(space))
}

/** Of a host, in lower case. */
const LABEL = /^[a-z0-9_-]{1,63}$/

function rowOf(route: Route, space: string | null, seat: string | null): AccessRow {
  const { method, hosts, path, requirement } = route
  const host = hosts.length === 0 ? {} : { host: hosts.join(',') }
  return { method, path, ...host, permission: requirement, upstream: upstreamOf(route), space, seat }
}

/** Entries of remembered answers, at some 50 bytes each. */
const MAX_REMEMBERED = 200_000

/** By permission: the name of the first Seat that grants it, by space, in their order. Routes of one permission share the answer. */
function granting(seats: readonly HeldSeat[], spaces: readonly string[]) {
  const named = new Set(seats.flatMap(({ permissions }) => [...permissions]))
  const known = new LRUCache<string, ReadonlyMap<string, string>>({
    maxSize: MAX_REMEMBERED,
    // A larger map is remembered alone: it would be computed again for each route.
    sizeCalculation: ({ size }) => Math.min(Math.max(size, 1), MAX_REMEMBERED),
  })
  return (permission: string): ReadonlyMap<string, string> => {
    // Permissions that no Seat names are granted by the same Seats: those that hold every permission.
    const key = named.has(permission) ? permission : EVERY_PERMISSION
    const found = known.get(key) ?? firstGranting(seats, spaces, key)
    known.set(key, found)
    return found
  }
}

function firstGranting(seats: readonly HeldSeat[], spaces: readonly string[], permission: string) {
  const granting = seats.filter(({ permissions }) => holds(permissions, permission))
  const found = new Map<string, string>()
  if (granting.length === 0) return found
  for (const space of spaces) {
    const seat = granting.find((each) => each.spaces.has(space))
    if (seat !== undefined) found.set(space, seat.name)
  }
  return found
}
