/**
 * Warnings in the answers to writes: the write was made, and may not be what was meant, or leaves a tenant
 * without anyone who could administer it.
 */

import type { KeyAdministration } from '../model/change.ts'
import { list, named, object, oneOf, text, type ValueOf } from '../model/json-schema.ts'
import { EVERY_PERMISSION } from '../model/permission.ts'
import { pointerTo } from '../model/refusal.ts'
import type { HoldingKeys, SeatsPlan } from '../model/planned-seats.ts'
import { administrates } from '../model/scope.ts'
import type { Administration } from '../store/store.ts'
import { TimeShare } from '../model/time-share.ts'
import { StoreUnavailable } from '../store/unavailable.ts'
import type { AdminDeps, RoutePermissions, Caller } from './admin-endpoint.ts'

const WARNING_CODES = ['permission_unasked', 'seat_held', 'nobody_administers'] as const

const warning = named(
  'Warning',
  'Something that may be unintentional.',
  object({
    path: text('A JSON Pointer (RFC 6901) into the body; empty if the warning concerns the whole tenant.', {
      examples: ['/permissions/0'],
    }),
    code: oneOf(
      WARNING_CODES,
      '`permission_unasked`: no route requires the permission; `seat_held`: the Seat now grants nothing, but users or API keys hold it; `nobody_administers`: no valid API key and no user who has signed in holds a Seat that can administer the tenant. Codes may be added.',
    ),
    message: text('A text for people, with the nearest name if there is one.'),
  }),
)

export type Warning = ValueOf<typeof warning>

/** The number of warnings of one answer. Further ones are left out. */
const MAX_WARNINGS = 100
/** Known permissions that are looked up in a row. */
const CHECKED = 1000

export const warnings = list(warning, `At most ${MAX_WARNINGS} warnings. Absent if there are none.`)

/** @param seats the permissions by the pointer to their list. Looking for near names is done in slices */
export async function unaskedPermissions(
  seats: Iterable<readonly [pointer: string, permissions: readonly string[]]>,
  routePermissions: RoutePermissions,
): Promise<Warning[]> {
  const unasked: Warning[] = []
  const share = new TimeShare()
  for (const [pointer, permissions] of seats)
    for (const [at, permission] of permissions.entries()) {
      const rest = at % CHECKED === 0 ? share.spent() : null
      if (rest !== null) await rest
      if (permission === EVERY_PERMISSION || routePermissions.has(permission)) continue
      if (unasked.length === MAX_WARNINGS) return unasked
      const near = routePermissions.nearest(permission)
      const suggestion = near === null ? '' : `: perhaps ${near} is meant`
      const message = `no route requires ${permission}${suggestion}`
      unasked.push({ path: pointerTo(pointer, String(at)), code: 'permission_unasked', message })
      await share.next()
    }
  return unasked
}

/** The warning of a Seat without spaces or permissions. @param field the empty list */
export function heldSeat(field: string, users: number, { count, names }: HoldingKeys): Warning[] {
  if (users === 0 && count === 0) return []
  const more = count - names.length
  const keys = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  const holders = [
    ...(users > 0 ? [`${users} ${users === 1 ? 'user' : 'users'}`] : []),
    ...(count > 0 ? [`${count} ${count === 1 ? 'API key' : 'API keys'} (${keys})`] : []),
  ].join(' and ')
  const message = `the Seat grants nothing now, and ${holders} ${users + count === 1 ? 'has' : 'have'} it`
  return [{ path: pointerTo('', field), code: 'seat_held', message }]
}

/** The warnings of one answer. @param first are never left out */
export function together(first: readonly Warning[], others: readonly Warning[]): Warning[] {
  return [...first, ...others].slice(0, MAX_WARNINGS)
}

/** Changes that are not written yet, and count as if they were. */
type Pending = Omit<Administration, 'space' | 'now'>

/**
 * Outside the admin space nothing is said: no write there concerns an administrator. Rejects when the store
 * can't be asked.
 */
export async function administrationWarnings(
  { tenant, scope }: Pick<Caller, 'tenant' | 'scope'>,
  { store, now }: Pick<AdminDeps, 'store' | 'now'>,
  pending: Pending = {},
): Promise<Warning[]> {
  if (!scope.admin) return []
  if (await isAdministered(store, tenant, scope.space, pending, now())) return []
  return [{ path: '', code: 'nobody_administers', message: messageFor(tenant) }]
}

/**
 * Whether an API key in force, or a user who signed in and is not blocked, holds a Seat that administrates
 * the tenant.
 *
 * @param now ms since the epoch
 */
export function isAdministered(
  store: Pick<AdminDeps['store'], 'isAdministered'>,
  tenant: string,
  space: string,
  pending: Pending = {},
  now = Date.now(),
): Promise<boolean> {
  return store.isAdministered(tenant, { space, now, ...pending })
}

/**
 * As {@link administrationWarnings}, after a write. It is committed: if the store can't be asked, nothing is
 * said.
 */
export async function warningsAfter(
  caller: Caller,
  deps: AdminDeps,
  { keyAdministers }: KeyAdministration,
): Promise<Warning[]> {
  if (keyAdministers) return []
  try {
    return await administrationWarnings(caller, deps)
  } catch (cause) {
    if (cause instanceof StoreUnavailable) return []
    throw cause
  }
}

/**
 * The body of an answer to a write, with the warnings of what it leaves if there are any.
 *
 * @param others further ones, which may be left out
 */
export async function warned<B extends object>(
  body: B,
  caller: Caller,
  deps: AdminDeps,
  written: KeyAdministration,
  others: readonly Warning[] = [],
) {
  return withWarnings(body, together(await warningsAfter(caller, deps, written), others))
}

export function withWarnings<B extends object>(body: B, all: readonly Warning[]) {
  return all.length === 0 ? body : { ...body, warnings: all }
}

/** What a plan of Seats would leave. */
export function pendingOf({ changes }: Pick<SeatsPlan, 'changes'>, adminSpace: string): Pending {
  const ids = (some: SeatsPlan['changes']) => some.flatMap(({ before }) => before?.id ?? [])
  const stay = changes.filter(({ after }) => after !== null && administrates(after, adminSpace))
  return { without: ids(changes), also: ids(stay) }
}

function messageFor(tenant: string): string {
  return (
    'no API key in force and no user who signed in holds a Seat that can administer the tenant: ' +
    `create an API key with such a Seat, or run seatgate bootstrap --tenant ${tenant} where the store is`
  )
}
