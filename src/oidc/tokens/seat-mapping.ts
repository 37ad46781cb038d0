/**
 * Seat names of the provider's → `hash_perm` entries, one for each space of each Seat of that name. Called at
 * sign-in, at refresh, and by `validate`.
 */

import { hashPermEntry } from '../../../seats-admin/model/hash-perm.ts'
import type { SpacesReading } from '../../../seats-admin/model/readings.ts'
import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { sanitizeName } from '../provider/log-text.ts'
import type { Context } from '../context.ts'

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

/** Rejects if the store can't be asked. */
export async function mapSeats(
  { seats, log }: Pick<Context, 'seats' | 'log'>,
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
    log.warn(
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

function entries(held: readonly SpacesReading[], tenant: string, log: Context['log']): string[] {
  const count = held.reduce((sum, { spaces }) => sum + spaces.length, 0)
  const carried: string[] = []
  let text = 0
  for (const { name, spaces } of held)
    for (const space of spaces) {
      if (!isSpaceId(space)) continue
      const entry = hashPermEntry(space, name)
      text += entry.length
      if (carried.length === MAX_ENTRIES || text > MAX_ENTRIES_TEXT) {
        log.warn({ event: 'seats_cut', tenant, count }, 'a user has more Seats than a sign-in can hold')
        return carried
      }
      carried.push(entry)
    }
  return carried
}
