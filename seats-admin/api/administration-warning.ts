/** The warning that a write leaves a tenant without anyone who could administer it. The write is made all the same. */

import type { KeyAdministration } from '../model/change.ts'
import { administrates } from '../model/scope.ts'
import type { SeatsPlan } from '../model/planned-seats.ts'
import type { Administration } from '../store/store.ts'
import { StoreUnavailable } from '../store/unavailable.ts'
import type { AdminDeps, Caller } from './admin-endpoint.ts'
import type { Warning } from './warnings.ts'

/** What is not written yet: it counts as if it were. */
type Pending = Partial<Pick<Administration, 'without' | 'also' | 'revoked' | 'blocked'>>

/** Outside the admin space nothing is said: no write there concerns an administrator. Rejects when the store can't be asked. */
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
 * Whether an API key in force, or a user who signed in and is not blocked, holds a Seat that administrates the tenant.
 *
 * @param now ms since the epoch
 */
export function isAdministered(
  store: Pick<AdminDeps['store'], 'isAdministered'>,
  tenant: string,
  space: string,
  { without = [], also = [], revoked = [], blocked = [] }: Pending = {},
  now = Date.now(),
): Promise<boolean> {
  return store.isAdministered(tenant, { space, now, without, also, revoked, blocked })
}

/** As {@link administrationWarnings}, after a write. It is committed: where the store can't be asked, nothing is said. */
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
