/**
 * One line a request, whatever happened: the essence of the decision record and how the answer went.
 * No header value, query, cookie or token is ever part of it.
 */

import type { Refusal } from '../errors.ts'
import type { ConsideredSeat, Exchange } from '../exchange.ts'

/** A credential may name thousands of Seats; a line shows the first of them. */
const MAX_SEATS = 20

/** Where the lines go. */
export type WriteLine = (level: 'info' | 'error', message: string, fields: string) => void

export class AccessLog {
  readonly #write: WriteLine

  constructor(write: WriteLine) {
    this.#write = write
  }

  write(exchange: Exchange): void {
    const { refusal } = exchange
    // Faults of ours or of an upstream are worth waking someone; a client's are not.
    const level = refusal !== null && refusal.status >= 500 ? 'error' : 'info'
    this.#write(level, 'request', fieldsOf(accessLine(exchange)))
  }

  /** A request of which not even the first line and header could be read. */
  unreadable(requestId: string, refusal: Refusal, client: string | undefined): void {
    const { code, status } = refusal
    this.#write('info', 'request', fieldsOf({ request_id: requestId, status, code, client }))
  }
}

/** V8 writes an object whole in a fifth of the time that it takes to put it together by hand, or by pino. */
function fieldsOf(line: Record<string, unknown>): string {
  return JSON.stringify(line).slice(1, -1)
}

/** What the client was told; 0 when it left before it was told anything. */
export function statusOf(exchange: Exchange): number {
  return exchange.response.headersSent ? exchange.response.statusCode : (exchange.refusal?.status ?? 0)
}

/** The line's fields. Durations in ms with three decimals, sizes in bytes. */
export function accessLine(exchange: Exchange): Record<string, unknown> {
  const { request, refusal, webSocket, cause } = exchange
  const decision = exchange.judgement?.decision
  return {
    request_id: exchange.id,
    method: request.method,
    path: decision?.path ?? null,
    status: statusOf(exchange),
    code: refusal?.code ?? decision?.code ?? null,
    aborted: exchange.aborted || undefined,
    ended_by: webSocket?.endedBy ?? undefined,
    close_code: webSocket?.closeCode ?? undefined,
    client: request.socket.remoteAddress,
    route: decision?.route?.id,
    upstream: upstreamOf(exchange),
    permission: decision?.permission ?? undefined,
    tenant: decision?.principal?.tenant,
    user: decision?.principal?.user,
    auth: decision?.principal?.method,
    space: decision?.space ?? undefined,
    source: decision?.source ?? undefined,
    seats: decision?.seats.length ? seatsOf(decision.seats) : undefined,
    duration_ms: round(exchange.endedAt - exchange.startedAt),
    decision_us: decision === undefined ? undefined : Math.round(decision.timings.total),
    upstream_ms: exchange.answeredAt > 0 ? round(exchange.answeredAt - exchange.forwardedAt) : undefined,
    bytes_in: exchange.bytesIn,
    bytes_out: exchange.bytesOut,
    cause: cause !== null || (refusal !== null && refusal.status >= 500) ? describe(cause) : undefined,
  }
}

function seatsOf(seats: readonly ConsideredSeat[]): string[] {
  const shown = seats.slice(0, MAX_SEATS).map((seat) => `${seat.name}:${seat.verdict}`)
  if (seats.length > MAX_SEATS) shown.push(`+${seats.length - MAX_SEATS} more`)
  return shown
}

function upstreamOf(exchange: Exchange): string | undefined {
  const target = exchange.judgement?.decision.route?.target
  return target?.kind === 'upstream' ? target.name : target && 'seatgate'
}

/** The inner cause in one line: its code and message, never its stack or properties (an error may carry a request). */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ` : ''
  return `${code}${cause.message || cause.name}`
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
