/** Creates a tenant's first Seat and API key, and gives that Seat back its rights, for the command line. */

import type { ApiKey } from '../model/api-key.ts'
import type { Committed } from '../model/change.ts'
import { EVERY_PERMISSION } from '../model/permission.ts'
import { type AdminRefusal, isRefusal } from '../model/refusal.ts'
import type { StoredSeat } from '../model/seat.ts'
import type { AdminStore, BootstrapInput, BootstrapResult, Writer } from '../store/store.ts'

const SEAT_NAME = 'admin'
const API_KEY_NAME = 'bootstrap'
const BY = 'bootstrap'

export interface Bootstrapped {
  readonly seat: StoredSeat
  readonly apiKey: ApiKey
  /** The key's text; only its hash is stored. */
  readonly key: string
  readonly committed: Committed
}

export interface BootstrapOptions {
  readonly tenant: string
  readonly adminSpace: string
  /** ms since the epoch */
  readonly now: number
}

/**
 * Creates Seat `admin` with `*` in the admin space, unless it exists, and an API key with it. Refused when a Seat of that
 * name has other spaces or permissions.
 */
export async function bootstrapTenant(
  store: AdminStore,
  options: BootstrapOptions,
): Promise<Bootstrapped | AdminRefusal> {
  const made = await write(store, options, { apiKey: API_KEY_NAME, restores: false })
  if (isRefusal(made)) return made
  if (made.apiKey === null || made.committed === null) throw new Error('no API key was created')
  const { key, ...apiKey } = made.apiKey
  return { seat: made.seat, apiKey, key, committed: made.committed }
}

/**
 * Creates Seat `admin` with `*` in the admin space, or gives back these where the Seat has lost them. A Seat of that name that
 * holds `*` in the admin space stays as it is.
 */
export function repairTenant(
  store: AdminStore,
  options: BootstrapOptions,
): Promise<BootstrapResult | AdminRefusal> {
  return write(store, options, { apiKey: null, restores: true })
}

function write(
  store: AdminStore,
  { tenant, adminSpace, now }: BootstrapOptions,
  input: Omit<BootstrapInput, 'seat'>,
): Promise<BootstrapResult | AdminRefusal> {
  const scope = { space: adminSpace, admin: true, all: true, permissions: [EVERY_PERMISSION] }
  const writer: Writer = { tenant, by: BY, scope, now }
  const seat = { name: SEAT_NAME, spaces: [adminSpace], permissions: [EVERY_PERMISSION] }
  return store.bootstrap(writer, { seat, ...input })
}
