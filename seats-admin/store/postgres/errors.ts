/** What is said when PostgreSQL can't be asked or refuses. No message ever has a credential or a row in it. */

import { DatabaseError } from 'pg'
import { type StoreFault, StoreUnavailable } from '../store.ts'

/** The connection broke. What was asked last may have been done all the same. */
export class ConnectionLost extends StoreUnavailable {
  constructor(message: string) {
    super(message, { fault: 'unreachable' })
    this.name = 'StoreUnavailable'
  }
}

/** SQLSTATEs after which the server ends the session: it shuts down, crashed, or threw us out. Class 08 too. */
const ENDING = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04'])

/** Of the network. A name that is not known may be one that is not known yet. */
const NETWORK = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

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
  return isEnding(cause)
    ? new ConnectionLost(message)
    : new StoreUnavailable(message, { fault: faultOf(cause) })
}

/** By SQLSTATE, or its class (postgresql.org/docs/current/errcodes-appendix.html). */
const FAULTS: Readonly<Record<string, StoreFault>> = {
  '25006': 'read_only',
  '28': 'denied',
  '40': 'locked',
  '42501': 'denied',
  '42703': 'schema',
  '42P01': 'schema',
  '3F000': 'schema',
  '53': 'overloaded',
  '53100': 'disk_full',
  '55P03': 'locked',
  '57014': 'timeout',
  '58': 'io_error',
  XX001: 'corrupt',
  XX002: 'corrupt',
}

/** Null for what a value alone may bring about. */
function faultOf(cause: unknown): StoreFault | null {
  if (!isRefusedByServer(cause)) return isUnreachable(cause) ? 'unreachable' : null
  const { code = '' } = cause
  return FAULTS[code] ?? FAULTS[code.slice(0, 2)] ?? null
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

function isUnreachable(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.some(isUnreachable)
  if (!(cause instanceof Error)) return false
  // The driver's own words for a connection that ends while it is made have no code.
  return (
    NETWORK.has((cause as NodeJS.ErrnoException).code ?? '') ||
    cause.message.startsWith('Connection terminated')
  )
}

/** Several addresses of one name fail together, each for its own reason. */
function messageOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
