/** Creates a tenant's first Seat and API key, for the command line. */

import type { ApiKey } from '../model/api-key.ts'
import { type Committed, committedOf } from '../model/change.ts'
import { EVERY_PERMISSION } from '../model/permission.ts'
import { type AdminRefusal, isRefusal } from '../model/refusal.ts'
import type { StoredSeat } from '../model/seat.ts'
import type { AdminStore, SeatReader, Writer } from '../store/store.ts'

const SEAT_NAME = 'admin'
const API_KEY_NAME = 'bootstrap'
const BY = 'bootstrap'

export interface Bootstrapped {
  readonly seat: StoredSeat
  readonly apiKey: ApiKey
  /** The key's text; only its hash is stored. */
  readonly key: string
  /** The committed writes, in order. */
  readonly committed: readonly Committed[]
}

/**
 * Creates Seat `admin` with `*` in the admin space, unless it exists, and an API key with it. Refused when a Seat of that
 * name has other spaces or permissions.
 *
 * @param options.now ms since the epoch
 */
export async function bootstrapTenant(
  store: AdminStore & SeatReader,
  options: { readonly tenant: string; readonly adminSpace: string; readonly now: number },
): Promise<Bootstrapped | AdminRefusal> {
  const { tenant, adminSpace, now } = options
  const scope = { space: adminSpace, admin: true, all: true, permissions: [EVERY_PERMISSION] }
  const writer: Writer = { tenant, by: BY, scope, now }
  const committed: Committed[] = []
  const seat = await adminSeat(store, writer, committed)
  if (isRefusal(seat)) return seat
  const made = await store.createApiKey(writer, { name: API_KEY_NAME, seats: [SEAT_NAME], expiresAt: null })
  if (isRefusal(made)) return made
  committed.push(committedOf(made))
  const { key, ...apiKey } = made.value
  return { seat, apiKey, key, committed }
}

async function adminSeat(
  store: AdminStore & SeatReader,
  writer: Writer,
  committed: Committed[],
): Promise<StoredSeat | AdminRefusal> {
  const input = { name: SEAT_NAME, spaces: [writer.scope.space], permissions: [EVERY_PERMISSION] }
  const made = await store.createSeat(writer, input)
  if (!isRefusal(made)) {
    committed.push(committedOf(made))
    return made.value
  }
  const { value } = await store.seatByName(writer.tenant, SEAT_NAME)
  if (made.refused !== 'seat_name_taken' || value.seat === null) return made
  const same =
    JSON.stringify([value.seat.spaces, value.seat.permissions]) ===
    JSON.stringify([input.spaces, input.permissions])
  return same ? value.seat : nameTaken(writer, value.seat)
}

function nameTaken({ tenant, scope }: Writer, seat: StoredSeat): AdminRefusal {
  const { permissions, spaces } = seat
  return {
    refused: 'seat_name_taken',
    detail:
      `Tenant ${tenant} already has a Seat "${SEAT_NAME}" other than "*" in space ${scope.space}: ` +
      `it has ${count(permissions, 'permission')} in ${count(spaces, 'space')}. Change or rename it first.`,
  }
}

function count(items: readonly string[], noun: string): string {
  return `${items.length} ${noun}${items.length === 1 ? '' : 's'}`
}
