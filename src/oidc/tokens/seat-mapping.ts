/**
 * Seat names of the provider's, or of SCIM → `hash_perm` entries, one for each space of each Seat of that
 * name. Called at sign-in, at refresh, and by `validate`.
 */

import { hashPermEntry } from '../../../seats-admin/model/hash-perm.ts'
import type { SpacesReading } from '../../../seats-admin/model/readings.ts'
import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { sanitizeName } from '../provider/log-text.ts'
import { membershipClaims } from '../../model/membership.ts'
import type { Context } from '../context.ts'
import type { OidcTenant } from '../ports.ts'

export interface MappedSeats {
  readonly ids: readonly string[]
  readonly names: readonly string[]
  /** `{space}:{seat}` */
  readonly hashPerm: readonly string[]
}

/** The most names that are looked up; no claim has more by accident. */
const MAX_NAMES = 1_000
/** The most UTF-16 code units of a name; no Seat has a longer one. */
const MAX_NAME = 512
const MAX_ENTRIES = 5_000
/**
 * UTF-16 code units of all entries. A session's are read on the event loop: 64 KiB take half a millisecond.
 */
const MAX_ENTRIES_TEXT = 65_536
/** The most unknown names in one line of the log. */
const MAX_LOGGED = 10

/** What says which Seats a user has, at sign-in and at each refresh. */
interface NamedUser {
  /** Seat names as the provider writes them. */
  readonly names: readonly string[]
  /** As of `SignedInUser`. */
  readonly member: string | null
}

/**
 * The Seats of a user now: those that the provider names, or with `seats_from: scim` those that have the
 * names of the user's groups. Rejects if the store can't be asked.
 */
export async function seatsOf(
  context: Pick<Context, 'seats' | 'log'>,
  tenant: OidcTenant,
  sub: string,
  { names, member: recorded }: NamedUser,
): Promise<MappedSeats> {
  const claims = membershipClaims(tenant, sub, recorded)
  if (claims === null) return mapSeats(context, tenant.id, names)
  const { member } = claims
  const groups = member === null ? null : await context.seats.groupsOf(tenant.id, member)
  // Most groups of a provider are no Seats.
  return mapSeats({ seats: context.seats, log: null }, tenant.id, groups ?? [])
}

/**
 * Rejects if the store can't be asked.
 *
 * @param context.log null: names without a Seat are not logged
 */
export async function mapSeats(
  {
    seats,
    log,
  }: { readonly seats: Pick<Context['seats'], 'seatsByName'>; readonly log: Context['log'] | null },
  tenant: string,
  names: readonly string[],
): Promise<MappedSeats> {
  const requested = names.slice(0, MAX_NAMES).filter(isValidName)
  const existing = requested.length === 0 ? [] : await seats.seatsByName(tenant, requested)
  const byName = new Map(existing.map((seat) => [seat.name, seat]))
  // In the order of the claim, and only requested names.
  const held = requested.map((name) => byName.get(name)).filter((seat) => seat !== undefined)
  const unknown = names.filter((name) => !byName.has(name))
  if (unknown.length > 0) {
    const logged = unknown.slice(0, MAX_LOGGED).map(sanitizeName)
    log?.warn(
      { event: 'seats_unknown', tenant, count: unknown.length, names: logged },
      'the identity provider names unknown Seats',
    )
  }
  return {
    ids: held.map(({ id }) => id),
    names: held.map(({ name }) => name),
    hashPerm: entries(held, tenant, log),
  }
}

function isValidName(name: string): boolean {
  return name !== '' && name.length <= MAX_NAME && name.isWellFormed()
}

function entries(held: readonly SpacesReading[], tenant: string, log: Context['log'] | null): string[] {
  const count = held.reduce((sum, { spaces }) => sum + spaces.length, 0)
  const carried: string[] = []
  let text = 0
  for (const { name, spaces } of held)
    for (const space of spaces) {
      if (!isSpaceId(space)) continue
      const entry = hashPermEntry(space, name)
      text += entry.length
      if (carried.length === MAX_ENTRIES || text > MAX_ENTRIES_TEXT) {
        log?.warn({ event: 'seats_cut', tenant, count }, 'a user has more Seats than a sign-in can hold')
        return carried
      }
      carried.push(entry)
    }
  return carried
}
