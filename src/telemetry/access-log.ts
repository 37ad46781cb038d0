/**
 * The access log: one line a request, with the main fields of the decision record and the course of the response.
 * A line holds no header value, query, cookie or token.
 */

import type { Refusal } from '../model/errors.ts'
import type { Exchange, OpenWebSocket } from '../http/server/exchange.ts'
import { type ConsideredSeat, type Decision, startsWithSeats } from '../model/decision.ts'
import { type CallerIdentity, identityOf, sameIdentity } from '../model/principal.ts'
import { ByPeer } from '../http/server/by-peer.ts'
import { MadeOf } from '../lib/made-of.ts'

/** Seats in one line: a credential may name thousands. */
const MAX_SEATS = 20

/** Writes a line. @param fields as JSON text without the braces */
export type WriteLine = (level: 'info' | 'error', message: string, fields: string) => void

export class AccessLog {
  readonly #write: WriteLine

  constructor(write: WriteLine) {
    this.#write = write
  }

  write(exchange: Exchange): void {
    const { refusal } = exchange
    // 5xx are faults of the gateway or an upstream: level `error`.
    const level = refusal !== null && refusal.status >= 500 ? 'error' : 'info'
    this.#write(level, 'request', accessLine(exchange))
  }

  /** A request without a readable request line and header section. */
  writeUnreadable(requestId: string, refusal: Refusal, client: string | undefined): void {
    const { code, status } = refusal
    this.#write('info', 'request', fieldsOf({ request_id: requestId, status, code, client: client ?? null }))
  }
}

/** The status that was sent; 0: the client disconnected before. */
export function statusOf(exchange: Exchange): number {
  return exchange.response.headersSent ? exchange.response.statusCode : (exchange.refusal?.status ?? 0)
}

/** The fields of the line, as JSON text without the braces. */
export function accessLine(exchange: Exchange): string {
  return `${exchangeFields(exchange)},${callers.of(exchange.request.section).fields(exchange)}`
}

/**
 * The fields that differ by request. Durations in ms with three decimals, sizes in bytes. Concatenated, as V8 takes
 * three times as long for an object. The id, the method (a token) and our own words need no JSON escapes.
 */
function exchangeFields(exchange: Exchange): string {
  const { id, request, refusal, webSocket, cause } = exchange
  const decision = exchange.evaluation?.decision
  const code = refusal?.code ?? decision?.code ?? null
  let text = `"request_id":"${id}","method":"${request.method}","path":${JSON.stringify(decision?.path ?? null)}`
  text += `,"status":${statusOf(exchange)},"code":${code === null ? 'null' : `"${code}"`}`
  if (exchange.aborted) text += ',"aborted":true'
  if (webSocket !== null) text += webSocketFields(webSocket)
  text += `,"duration_ms":${round(exchange.endedAt - exchange.startedAt)}`
  if (decision !== undefined) text += `,"decision_us":${Math.round(decision.timings.total)}`
  if (exchange.respondedAt > 0) text += `,"upstream_ms":${round(exchange.respondedAt - exchange.forwardedAt)}`
  text += `,"bytes_in":${exchange.bytesIn},"bytes_out":${exchange.bytesOut}`
  if (cause !== null || (refusal !== null && refusal.status >= 500))
    text += `,"cause":${JSON.stringify(describe(cause))}`
  return text
}

function webSocketFields({ endedBy, closeCode }: OpenWebSocket): string {
  const end = endedBy === null ? '' : `,"ended_by":"${endedBy}"`
  return closeCode === null ? end : `${end},"close_code":${closeCode}`
}

/** V8 serialises an object in a fifth of the time that pino takes. */
function fieldsOf(line: Record<string, unknown>): string {
  return JSON.stringify(line).slice(1, -1)
}

/** The fields of the caller and the route. */
function callerFields(exchange: Exchange): Record<string, unknown> {
  const decision = exchange.evaluation?.decision
  return {
    client: exchange.request.socket.remoteAddress ?? null,
    route: decision?.route?.id,
    upstream: upstreamOf(exchange),
    permission: decision?.permission ?? undefined,
    tenant: decision?.principal?.tenant,
    user: decision?.principal?.user,
    auth: decision?.principal?.method,
    space: decision?.space ?? undefined,
    source: decision?.source ?? undefined,
    seats: decision?.seats.length ? seatsOf(decision.seats) : undefined,
  }
}

/** Everything that a caller's fields depend on. `seats`: the ones shown. */
interface Caller extends Pick<Decision, 'route' | 'permission' | 'space' | 'source' | 'seats'> {
  readonly principal: CallerIdentity | null
  readonly seatCount: number
}

/**
 * Serialised fields of callers that share a header section. One client address mostly has one caller and few routes.
 */
class CallerFieldsCache {
  #entries = new ByPeer<CachedFields[]>()
  /** Of all addresses. */
  #count = 0

  /** As JSON text. */
  fields(exchange: Exchange): string {
    const decision = exchange.evaluation?.decision
    if (decision === undefined) return fieldsOf(callerFields(exchange))
    const client = exchange.request.socket.remoteAddress ?? ''
    const entries = this.#entries.get(client) ?? []
    for (const each of entries)
      if (isSame(each.caller, decision)) {
        // Adopts the decision's lists, so that the next comparison is by reference.
        if (each.caller.seatCount <= MAX_SEATS && each.caller.seats !== decision.seats)
          each.caller = callerOf(decision)
        return each.fields
      }
    const fields = fieldsOf(callerFields(exchange))
    this.#add(client, { caller: callerOf(decision), fields })
    return fields
  }

  #add(client: string, entry: CachedFields): void {
    if (this.#count === MAX_CACHED) {
      this.#entries = new ByPeer()
      this.#count = 0
    }
    const entries = this.#entries.get(client)
    if (entries?.length === MAX_PER_ADDRESS) entries.shift()
    else this.#count++
    if (entries === undefined) this.#entries.set(client, [entry])
    else entries.push(entry)
  }
}

/** Not the decision itself: its path would retain the whole request. */
function callerOf({ route, permission, principal, space, source, seats }: Decision): Caller {
  const first = seats.length > MAX_SEATS ? seats.slice(0, MAX_SEATS) : seats
  const [caller, seatCount] = [identityOf(principal), seats.length]
  return { route, permission, principal: caller, space, source, seats: first, seatCount }
}

interface CachedFields {
  caller: Caller
  readonly fields: string
}

/** Entries by header section; one more clears them. */
const MAX_CACHED = 256
/** Entries by client address; one more drops the oldest. */
const MAX_PER_ADDRESS = 8

const callers = new MadeOf(() => new CallerFieldsCache())

function isSame(entry: Caller, other: Decision): boolean {
  return (
    entry.route === other.route &&
    entry.permission === other.permission &&
    sameIdentity(entry.principal, other.principal) &&
    entry.space === other.space &&
    entry.source === other.source &&
    entry.seatCount === other.seats.length &&
    startsWithSeats(other.seats, entry.seats)
  )
}

function seatsOf(seats: readonly ConsideredSeat[]): string[] {
  const shown = seats.slice(0, MAX_SEATS).map((seat) => `${seat.name}:${seat.verdict}`)
  if (seats.length > MAX_SEATS) shown.push(`+${seats.length - MAX_SEATS} more`)
  return shown
}

function upstreamOf(exchange: Exchange): string | undefined {
  const target = exchange.evaluation?.decision.route?.target
  return target?.kind === 'upstream' ? target.name : target && 'seatgate'
}

/** The cause in one line: code and message. Never its stack or properties: an error may carry a request. */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ` : ''
  return `${code}${cause.message || cause.name}`
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
