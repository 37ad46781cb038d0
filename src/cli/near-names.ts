/** Suggestions for unknown names, in the messages of all commands. */

import type { Store } from '../../seats-admin/index.ts'
import { nearest } from '../config/invalid-value.ts'
import { printable } from '../telemetry/readable.ts'
import { CommandFailed } from './command.ts'
import { everyUser, seatsOf } from './seat-source.ts'

/** The most names that are searched. */
const MOST_NAMES = 10_000
const MOST_NEAR = 3

/**
 * A suggestion with the nearest name first, such as ` (did you mean "Reader" or "Readers"?)`; '' if no name
 * is near.
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

/** The fault of `--seat`, with suggestions. @param seats the Seats of a file, or the store */
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

/** The fault of `--user`, which takes a `sub`, with suggestions from the store. */
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
