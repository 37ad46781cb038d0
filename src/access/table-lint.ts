/** Compares route tables with Seats and API keys: unneeded grants, and requirements that nothing grants. */

import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import { administrates } from '../../seats-admin/model/scope.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { Warning } from '../config/faults.ts'
import { builtInPermission } from '../decision/router/table.ts'
import { needsPermission, type Route, takesTenant } from '../model/route.ts'
import { KnownNames, RequiredPermissions } from './required-permissions.ts'

/** The levels by code. */
export const LEVELS = {
  nobody_administers: 'error',
  permission_unasked: 'warning',
  route_ungranted: 'warning',
  key_without_seats: 'warning',
  builtin_permission: 'warning',
  seat_unknown: 'warning',
  administrator_single: 'info',
  wildcard_seat: 'info',
  route_public: 'info',
  seat_unused: 'info',
  group_without_seat: 'info',
  group_administers: 'info',
  key_expired: 'info',
} as const satisfies Readonly<Record<string, 'error' | 'warning' | 'info'>>

export type LintCode = keyof typeof LEVELS

export interface Finding {
  readonly code: LintCode
  readonly level: (typeof LEVELS)[LintCode]
  /** The tenant; null if all tenants are concerned. */
  readonly tenant: string | null
  readonly seat?: string
  /** The name of an API key. */
  readonly api_key?: string
  readonly route?: string
  /** The name of a SCIM group. */
  readonly group?: string
  readonly permission?: string
  readonly message: string
  /** A name that may have been intended. */
  readonly suggestion?: string
}

export interface LintedSeat extends SeatInput {
  /** As `ListedSeat.memberCount`; null if it is unknown. */
  readonly members: number | null
}

/** An API key that is not revoked. */
export interface LintedKey {
  readonly name: string
  /** The names of its Seats. */
  readonly seats: readonly string[]
  /** The expiry in ms since the epoch; null: never. */
  readonly expiresAt: number | null
}

/** An issuer of tokens in the configuration. */
export interface LintedIssuer {
  readonly issuer: string
  /** The names of its Seats; null if a claim of the token names them. */
  readonly seats: readonly string[] | null
}

interface LintedTenant {
  readonly id: string
  readonly adminSpace: string
  /** The issuers whose tokens hold Seats by name; absent if there are none. */
  readonly issuers?: readonly LintedIssuer[]
  readonly seats: AsyncIterable<LintedSeat> | Iterable<LintedSeat>
  readonly keys: AsyncIterable<LintedKey> | Iterable<LintedKey>
  /** The names of Seats that users have by grants, or will have. */
  readonly granted?: AsyncIterable<string> | Iterable<string>
  /**
   * The names of its SCIM groups, if these give users their Seats; null or absent: the latest sign-in does.
   */
  readonly groups?: AsyncIterable<string> | Iterable<string> | null
  /** Whether an API key in force, or an unblocked user, can administer it; null: unknown. */
  readonly administered: boolean | null
}

/**
 * The findings about the tables alone.
 *
 * @param accepts whether a comment accepts a warning of `check`
 */
export function lintRoutes(
  routes: readonly Route[],
  accepts: (warning: Warning) => boolean = () => false,
): Finding[] {
  const own = ownRoutes(routes)
  const open = own
    .filter(({ requirement }) => requirement === 'public')
    .map((route) =>
      finding('route_public', null, { route: route.id, message: `${routeName(route)} needs no credential` }),
    )
  const ofGateway = own.flatMap((route) => {
    const { id, place, requirement: permission } = route
    const message = builtInPermission({ ...route, id: routeName(route) })
    if (message === null || place === null || accepts({ code: 'builtin_permission', place, message }))
      return []
    return [finding('builtin_permission', null, { route: id, permission, message })]
  })
  return [...open, ...ofGateway]
}

/**
 * The findings about a tenant.
 *
 * @param now ms since the epoch
 */
export async function lintTenant(
  routes: readonly Route[],
  tenant: LintedTenant,
  now: number,
): Promise<Finding[]> {
  const { id, adminSpace, issuers = [], groups = null } = tenant
  const required = new RequiredPermissions(routes)
  const granted = new Set<string>()
  const held = new Set<string>()
  const findings: Finding[] = []
  if (tenant.administered === false)
    findings.push(
      finding('nobody_administers', id, {
        message: `no API key in force and ${groups === null ? 'no user who signed in' : 'no active user of a SCIM group'} holds a Seat that can manage Seats in the admin space ${adminSpace}; seatgate bootstrap --tenant ${id} makes an API key`,
      }),
    )
  for await (const key of tenant.keys) {
    for (const name of key.seats) held.add(name)
    findings.push(...lintKey(id, key, now))
  }
  for await (const name of tenant.granted ?? []) held.add(name)
  for (const { seats } of issuers) for (const name of seats ?? []) held.add(name)
  const administrators: string[] = []
  const seatNames = new Set<string>()
  const powerful = new Set<string>()
  for await (const seat of tenant.seats) {
    for (const permission of seat.permissions)
      if (countsAsGranted(permission, seat, adminSpace)) granted.add(permission)
    seatNames.add(seat.name)
    findings.push(...lintSeat(id, seat, required, held, groups !== null))
    if (administrates(seat, adminSpace)) administrators.push(seat.name)
    if (administrates(seat, adminSpace) || seat.permissions.includes(EVERY_PERMISSION))
      powerful.add(seat.name)
  }
  const [administrator] = administrators
  if (administrator !== undefined && administrators.length === 1)
    findings.push(
      finding('administrator_single', id, {
        seat: administrator,
        message: `Seat "${administrator}" alone lets its holders manage Seats in the admin space ${adminSpace}`,
      }),
    )
  findings.push(...lintIssuers(id, issuers, seatNames))
  if (groups !== null) findings.push(...(await lintGroups(id, groups, seatNames, powerful)))
  return [...findings, ...lintGrants(id, routes, granted)]
}

/**
 * SCIM groups that give nothing, and those by which the identity provider decides who may do everything or
 * manage Seats.
 */
async function lintGroups(
  tenant: string,
  groups: AsyncIterable<string> | Iterable<string>,
  seatNames: ReadonlySet<string>,
  powerful: ReadonlySet<string>,
): Promise<Finding[]> {
  const names = new KnownNames(seatNames)
  const findings: Finding[] = []
  for await (const group of groups) {
    if (!seatNames.has(group)) {
      const message = `SCIM group "${group}" gives nothing: no Seat has its name`
      findings.push(finding('group_without_seat', tenant, { group, message }, names.nearest(group)))
    } else if (powerful.has(group)) {
      const message = `SCIM group "${group}" gives Seat "${group}": who keeps groups at the identity provider decides who administers`
      findings.push(finding('group_administers', tenant, { seat: group, group, message }))
    }
  }
  return findings
}

/** Names in the configuration that no Seat has. A Seat that is created later is held from then on. */
function lintIssuers(
  tenant: string,
  issuers: readonly LintedIssuer[],
  seatNames: ReadonlySet<string>,
): Finding[] {
  const names = new KnownNames(seatNames)
  return issuers.flatMap(({ issuer, seats }) =>
    (seats ?? [])
      .filter((name) => !seatNames.has(name))
      .map((name) => {
        const message = `tokens of ${issuer} hold Seat "${name}", which the tenant does not have: make the Seat, or correct the name in the configuration`
        return finding('seat_unknown', tenant, { seat: name, message }, names.nearest(name))
      }),
  )
}

/** Whether a permission counts: an administrator's `*` is for the gateway's endpoints only. */
function countsAsGranted(permission: string, { spaces }: SeatInput, adminSpace: string): boolean {
  return permission !== EVERY_PERMISSION || spaces.some((space) => space !== adminSpace)
}

function lintKey(tenant: string, { name, seats, expiresAt }: LintedKey, now: number): Finding[] {
  const about = { api_key: name }
  if (expiresAt !== null && expiresAt <= now) {
    const message = `API key "${name}" expired on ${new Date(expiresAt).toISOString()}`
    return [finding('key_expired', tenant, { ...about, message })]
  }
  if (seats.length > 0) return []
  const message = `API key "${name}" has no Seat: it passes only routes that are public or authenticated`
  return [finding('key_without_seats', tenant, { ...about, message })]
}

function lintSeat(
  tenant: string,
  { name, permissions, members }: LintedSeat,
  required: KnownNames,
  held: ReadonlySet<string>,
  isByGroups: boolean,
): Finding[] {
  const findings = permissions.flatMap((permission) => unasked(tenant, name, permission, required))
  if (members === 0 && !held.has(name)) {
    const users = isByGroups
      ? 'no SCIM group of its name has an active user'
      : `no user's latest sign-in carried it`
    const message = `no API key holds Seat "${name}", and ${users}; tokens of other issuers are not known`
    findings.push(finding('seat_unused', tenant, { seat: name, message }))
  }
  return findings
}

function unasked(tenant: string, seat: string, permission: string, required: KnownNames): Finding[] {
  if (permission === EVERY_PERMISSION) {
    const message = `Seat "${seat}" holds every permission`
    return [finding('wildcard_seat', tenant, { seat, permission, message })]
  }
  if (required.has(permission)) return []
  const message = `Seat "${seat}" holds ${permission}, which no route requires`
  return [finding('permission_unasked', tenant, { seat, permission, message }, required.nearest(permission))]
}

/** Routes with a permission that no Seat holds. `*` outside the admin space counts as holding it. */
function lintGrants(tenant: string, routes: readonly Route[], granted: ReadonlySet<string>): Finding[] {
  if (granted.has(EVERY_PERMISSION)) return []
  const names = new KnownNames(granted)
  return ownRoutes(routes)
    .filter((route) => takesTenant(route, tenant))
    .filter(({ requirement }) => needsPermission(requirement) && !granted.has(requirement))
    .map((route) => {
      const permission = route.requirement
      const message = `${routeName(route)} requires ${permission}, which no Seat of tenant ${tenant} holds`
      return finding(
        'route_ungranted',
        tenant,
        { route: route.id, permission, message },
        names.nearest(permission),
      )
    })
}

function ownRoutes(routes: readonly Route[]): Route[] {
  return routes.filter(({ place }) => place !== null)
}

function routeName({ id, place }: Route): string {
  return place === null ? id : `${id} (${place.file}:${place.line})`
}

function finding(
  code: LintCode,
  tenant: string | null,
  more: Omit<Finding, 'code' | 'level' | 'tenant' | 'suggestion'>,
  suggestion: string | null = null,
): Finding {
  const hint = suggestion === null ? {} : { suggestion }
  return { code, level: LEVELS[code], tenant, ...more, ...hint }
}
