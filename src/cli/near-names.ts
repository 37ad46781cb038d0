/** Names near to one that is not known, in the messages of all commands. */

import type { Store } from '../../seats-admin/index.ts'
import { nearest } from '../config/invalid-value.ts'
import { printable } from '../telemetry/readable.ts'
import { CommandFailed } from './command.ts'
import { everyUser, seatsOf } from './seat-source.ts'

/** Names that are looked through. */
const MOST_NAMES = 10_000
const MOST_NEAR = 3

/**
 * ` (did you mean "Reader" or "Readers"?)`, the nearest one first; '' where none is near.
 *
 * @param names read one after another, up to 10,000 different ones
 */
export async function suggestion(
  name: string,
  names: Iterable<string> | AsyncIterable<string>,
): Promise<string> {
  const candidates = new Set<string>()
  for await (const name of names) if (candidates.add(name).size >= MOST_NAMES) break
  const near: string[] = []
  for (let next = nearest(name, candidates); next !== null && near.length < MOST_NEAR;) {
    near.push(next)
    candidates.delete(next)
    next = nearest(name, candidates)
  }
  return near.length === 0 ? '' : ` (did you mean ${near.map(quoted).join(' or ')}?)`
}

/** A JSON string, safe for terminals. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text))
}

/**
 * Of `--seat`, where the tenant's Seats are at hand.
 *
 * @param seats those of a file, or the store
 */
export async function unknownSeat(
  name: string,
  tenant: string,
  seats: Iterable<{ readonly name: string }> | Pick<Store, 'listSeats'>,
): Promise<CommandFailed> {
  const all = 'listSeats' in seats ? seatsOf(seats, tenant) : seats
  const near = await suggestion(
    name,
    namesOf(all, (seat) => seat.name),
  )
  return new CommandFailed(`tenant ${tenant} has no Seat ${quoted(name)}${near}`)
}

/** Of `--user`, which takes a `sub`, where the store is at hand. */
export async function unknownUser(
  user: string,
  tenant: string,
  store: Pick<Store, 'listUsers'>,
): Promise<CommandFailed> {
  const near = await suggestion(
    user,
    namesOf(everyUser(store, tenant), ({ sub }) => sub),
  )
  return new CommandFailed(
    `no sign-in of a user ${quoted(user)} at tenant ${tenant} is known${near}; tokens of other issuers leave no trace here`,
  )
}

async function* namesOf<V>(
  items: Iterable<V> | AsyncIterable<V>,
  nameOf: (item: V) => string,
): AsyncGenerator<string> {
  for await (const item of items) yield nameOf(item)
}
