/** What is said when PostgreSQL can't be asked or refuses. No message ever has a credential or a row in it. */

import { DatabaseError } from 'pg'
import { StoreUnavailable } from '../store.ts'

/** The connection broke. What was asked last may have been done all the same. */
export class ConnectionLost extends StoreUnavailable {
  constructor(message: string) {
    super(message)
    this.name = 'StoreUnavailable'
  }
}

/** SQLSTATEs after which the server ends the session: it shuts down, crashed, or threw us out. Class 08 too. */
const ENDING = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04'])

/** What is to be done, by SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  '42501': 'the role must own the schema "seatgate": CREATE SCHEMA seatgate AUTHORIZATION <role>',
}

/**
 * As the store says it. Without a `cause`: what the server adds to its message may hold what is stored.
 * @param place of {@link Target}
 */
export function unavailable(place: string, cause: unknown): StoreUnavailable {
  if (cause instanceof StoreUnavailable) return cause
  const advice = isRefusedByServer(cause) ? ADVICE[cause.code ?? ''] : undefined
  const message = `the store ${place}: ${messageOf(cause)}${advice === undefined ? '' : ` (${advice})`}`
  return isEnding(cause) ? new ConnectionLost(message) : new StoreUnavailable(message)
}

export function lost(place: string, cause: unknown): ConnectionLost {
  return new ConnectionLost(`the store ${place}: ${messageOf(cause)}`)
}

/** The server answered, and said no. */
export function isRefusedByServer(cause: unknown): cause is DatabaseError {
  return cause instanceof DatabaseError
}

function isEnding(cause: unknown): boolean {
  if (!isRefusedByServer(cause)) return false
  const { code = '' } = cause
  return ENDING.has(code) || code.startsWith('08')
}

/** Several addresses of one name fail together, each for its own reason. */
function messageOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
