/** Finds the ids that the audit is filtered by, where a name is given. */

import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'
import { findKey, findSeat, findUser, isUlid, NotFound } from '../remote/find.ts'
import type { Gateway } from '../remote/gateway.ts'
import { GatewayRefusal } from '../remote/problem.ts'

type Finder = (gateway: Gateway, given: string) => Promise<string | null>

const seatId: Finder = async (gateway, given) => (await findSeat(gateway, given)).seat.id
const keyId: Finder = async (gateway, given) => (await findKey(gateway, given)).id
const userId: Finder = async (gateway, given) => (await findUser(gateway, given))?.sub ?? null

/** @param given the name of a Seat or of an API key in force; else an id */
export function targetOf(gateway: Gateway, given: string, terminal: Terminal): Promise<string> {
  return firstOf([seatId, keyId], gateway, { given, what: 'Seat or API key' }, terminal)
}

/** @param given the name of an API key in force or the email address of a user; else an id */
export function actorOf(gateway: Gateway, given: string, terminal: Terminal): Promise<string> {
  return firstOf([userId, keyId], gateway, { given, what: 'user or API key' }, terminal)
}

/** Ids of what is gone, and of what the API key may not see, are in the audit too. */
async function firstOf(
  finders: readonly Finder[],
  gateway: Gateway,
  { given, what }: { readonly given: string; readonly what: string },
  terminal: Terminal,
): Promise<string> {
  if (isUlid(given)) return given
  for (const find of finders) {
    const found = await find(gateway, given).catch(nullWhereNone)
    if (found !== null) return found
  }
  terminal.printError(
    printable(`note: no ${what} ${JSON.stringify(given)} can be found: it is taken as an id`),
  )
  return given
}

/** Also where the API key may not list them. */
function nullWhereNone(cause: unknown): null {
  if (cause instanceof NotFound) return null
  if (cause instanceof GatewayRefusal && cause.problem.status === 403) return null
  throw cause
}
