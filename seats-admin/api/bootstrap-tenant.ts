/** Creates a tenant's first Seat and API key, and gives that Seat back its rights, for the command line. */

import { type ApiKey, isAccepted } from '../model/api-key.ts'
import type { Committed } from '../model/change.ts'
import { EVERY_PERMISSION } from '../model/permission.ts'
import { type AdminRefusal, isRefusal } from '../model/refusal.ts'
import type { StoredSeat } from '../model/seat.ts'
import type { AdminStore, BootstrapInput, BootstrapResult, Writer } from '../store/store.ts'

const SEAT_NAME = 'admin'
const API_KEY_NAME = 'bootstrap'
const BY = 'bootstrap'

interface Bootstrapped {
  readonly seat: StoredSeat
  readonly apiKey: ApiKey
  /** API keys in force that the Seat had before. */
  readonly others: readonly ApiKey[]
  /** The key's text; only its hash is stored. */
  readonly key: string
  readonly committed: Committed
}

interface BootstrapOptions {
  readonly tenant: string
  readonly adminSpace: string
  /** ms since the epoch */
  readonly now: number
}

/**
 * Creates Seat `admin` with `*` in the admin space, unless it exists, and an API key with it. Refused when a
 * Seat of that name has other spaces or permissions.
 */
export async function bootstrapTenant(
  store: AdminStore,
  options: BootstrapOptions,
): Promise<Bootstrapped | AdminRefusal> {
  const keys = await keysOf(store, options)
  const made = await write(store, options, { apiKey: freeName(keys), restores: false })
  if (isRefusal(made)) return made
  if (made.apiKey === null || made.committed === null) throw new Error('no API key was created')
  const { key, ...apiKey } = made.apiKey
  const others = keys.filter((each) => isAccepted(each, options.now) && each.seats.includes(SEAT_NAME))
  return { seat: made.seat, apiKey, others, key, committed: made.committed }
}

/** API keys of a page. */
const PAGE = 100

async function keysOf(store: AdminStore, { tenant, adminSpace }: BootstrapOptions): Promise<ApiKey[]> {
  const keys: ApiKey[] = []
  for (let after: string | null = null; ;) {
    const page = { limit: PAGE, after, scope: scopeOf(adminSpace) }
    const { data, next } = await store.listApiKeys(tenant, page)
    keys.push(...data)
    if (next === null) return keys
    after = next
  }
}

/** Two keys of one name could not be told apart in lists and in the audit. */
function freeName(keys: readonly ApiKey[]): string {
  const taken = new Set(keys.map(({ name }) => name))
  if (!taken.has(API_KEY_NAME)) return API_KEY_NAME
  for (let number = 2; ; number++)
    if (!taken.has(`${API_KEY_NAME} ${number}`)) return `${API_KEY_NAME} ${number}`
}

function scopeOf(space: string) {
  return { space, admin: true, all: true, permissions: [EVERY_PERMISSION] }
}

/**
 * Creates Seat `admin` with `*` in the admin space, or gives back these where the Seat has lost them. A Seat
 * of that name that holds `*` in the admin space stays as it is.
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
  const writer: Writer = { tenant, by: BY, scope: scopeOf(adminSpace), now }
  const seat = { name: SEAT_NAME, spaces: [adminSpace], permissions: [EVERY_PERMISSION] }
  return store.bootstrap(writer, { seat, ...input })
}
