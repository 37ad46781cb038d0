/** Errors of PostgreSQL as StoreUnavailable. No message contains a credential or a row. */

import { DatabaseError } from 'pg'
import { type StoreFault, StoreUnavailable } from '../store.ts'
import { codeIn, messageOf, type StoreCode } from '../unavailable.ts'

/** The connection broke. The last statement may have been executed. */
export class ConnectionLost extends StoreUnavailable {
  constructor(message: string, code: string | null = null) {
    super(message, { fault: 'unreachable', code })
    this.name = 'StoreUnavailable'
  }
}

/** SQLSTATEs after which the server ends the session: shutdown, crash or termination. Class 08 too. */
const ENDING = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04'])

/** Network errors. An unknown host name may become known later. */
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

/** Advice for operators, by SQLSTATE. */
const ADVICE: Readonly<Record<string, string>> = {
  '42501': 'the role must own the schema "seatgate": CREATE SCHEMA seatgate AUTHORIZATION <role>',
}

/**
 * Has no `cause`, because the details of a server error may contain stored values; but for a certificate for
 * other names, which a message has to name.
 *
 * @param place of {@link Target}
 */
export function unavailable(place: string, cause: unknown): StoreUnavailable {
  if (cause instanceof StoreUnavailable) return cause
  const advice = cause instanceof DatabaseError ? ADVICE[cause.code ?? ''] : undefined
  const message = `the store ${place}: ${messageOf(cause)}${advice === undefined ? '' : ` (${advice})`}`
  const code = codeOf(cause)
  return isEnding(cause)
    ? new ConnectionLost(message, code)
    : new StoreUnavailable(message, {
        fault: faultOf(cause),
        code,
        ...(code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? { cause } : {}),
      })
}

/** The driver has no codes for these. */
const DRIVER_ERRORS: readonly (readonly [RegExp, StoreCode])[] = [
  [/client password must be a/, 'NO_PASSWORD'],
  [/does not support SSL/, 'NO_TLS'],
]

function codeOf(cause: unknown): string | null {
  const [, code] = DRIVER_ERRORS.find(([pattern]) => pattern.test(messageOf(cause))) ?? []
  return code ?? codeIn(cause)
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

/** Null for errors that a caller's value can cause. */
function faultOf(cause: unknown): StoreFault | null {
  if (!(cause instanceof DatabaseError)) return isUnreachable(cause) ? 'unreachable' : null
  const { code = '' } = cause
  return FAULTS[code] ?? FAULTS[code.slice(0, 2)] ?? null
}

export function connectionLost(place: string, cause: unknown): ConnectionLost {
  return new ConnectionLost(`the store ${place}: ${messageOf(cause)}`, codeOf(cause))
}

/** The server was silent for too long. @param how as in `no response within 2000 ms` */
export function tooLate(place: string, how: string): ConnectionLost {
  return new ConnectionLost(`the store ${place}: ${how}`, 'TIMEOUT')
}

function isEnding(cause: unknown): boolean {
  if (!(cause instanceof DatabaseError)) return false
  const { code = '' } = cause
  return ENDING.has(code) || code.startsWith('08')
}

function isUnreachable(cause: unknown): boolean {
  if (cause instanceof AggregateError) return cause.errors.some(isUnreachable)
  if (!(cause instanceof Error)) return false
  // The driver's error for a connection closed during connect has no code.
  return (
    NETWORK.has((cause as NodeJS.ErrnoException).code ?? '') ||
    cause.message.startsWith('Connection terminated')
  )
}
