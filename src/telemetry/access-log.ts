/**
 * One line a request, whatever happened: the essence of the decision record and how the answer went.
 * No header value, query, cookie or token is ever part of it.
 */

import type { Refusal } from '../model/errors.ts'
import type { Exchange, OpenWebSocket } from '../http/server/exchange.ts'
import { type ConsideredSeat, type Decision, startsWithSeats } from '../model/decision.ts'
import { type CallerIdentity, identityOf, sameIdentity } from '../model/principal.ts'
import { ByPeer } from '../http/server/by-peer.ts'
import { MadeOf } from '../lib/made-of.ts'

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
    this.#write(level, 'request', accessLine(exchange))
  }

  /** A request of which not even the first line and header could be read. */
  unreadable(requestId: string, refusal: Refusal, client: string | undefined): void {
    const { code, status } = refusal
    this.#write('info', 'request', fieldsOf({ request_id: requestId, status, code, client: client ?? null }))
  }
}

/** What the client was told; 0 when it left before it was told anything. */
export function statusOf(exchange: Exchange): number {
  return exchange.response.headersSent ? exchange.response.statusCode : (exchange.refusal?.status ?? 0)
}

/** The line's fields, as JSON text without the braces. */
export function accessLine(exchange: Exchange): string {
  return `${courseOf(exchange)},${callers.of(exchange.request.section).fields(exchange)}`
}

/**
 * What is another at each request. Durations in ms with three decimals, sizes in bytes. Put together by hand, where V8
 * takes three times as long for an object: an id, a method (a token) and our own words hold nothing that JSON escapes.
 */
function courseOf(exchange: Exchange): string {
  const { id, request, refusal, webSocket, cause } = exchange
  const decision = exchange.evaluation?.decision
  const code = refusal?.code ?? decision?.code ?? null
  let text = `"request_id":"${id}","method":"${request.method}","path":${JSON.stringify(decision?.path ?? null)}`
  text += `,"status":${statusOf(exchange)},"code":${code === null ? 'null' : `"${code}"`}`
  if (exchange.aborted) text += ',"aborted":true'
  if (webSocket !== null) text += endOf(webSocket)
  text += `,"duration_ms":${round(exchange.endedAt - exchange.startedAt)}`
  if (decision !== undefined) text += `,"decision_us":${Math.round(decision.timings.total)}`
  if (exchange.respondedAt > 0) text += `,"upstream_ms":${round(exchange.respondedAt - exchange.forwardedAt)}`
  text += `,"bytes_in":${exchange.bytesIn},"bytes_out":${exchange.bytesOut}`
  if (cause !== null || (refusal !== null && refusal.status >= 500))
    text += `,"cause":${JSON.stringify(describe(cause))}`
  return text
}

function endOf({ endedBy, closeCode }: OpenWebSocket): string {
  const end = endedBy === null ? '' : `,"ended_by":"${endedBy}"`
  return closeCode === null ? end : `${end},"close_code":${closeCode}`
}

/** V8 writes an object whole in a fifth of the time that pino takes. */
function fieldsOf(line: Record<string, unknown>): string {
  return JSON.stringify(line).slice(1, -1)
}

/** Who asked, and for what. */
function askedBy(exchange: Exchange): Record<string, unknown> {
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

/** All that the fields of a caller depend on; `seats`: those that are shown. */
interface Caller extends Pick<Decision, 'route' | 'permission' | 'space' | 'source' | 'seats'> {
  readonly principal: CallerIdentity | null
  readonly seatCount: number
}

/** Who asked with the same header lines: from one place it is mostly one caller, who asks for a few routes. */
class Callers {
  #known = new ByPeer<Known[]>()
  /** Of all places. */
  #count = 0

  /** As JSON text. */
  fields(exchange: Exchange): string {
    const decision = exchange.evaluation?.decision
    if (decision === undefined) return fieldsOf(askedBy(exchange))
    const client = exchange.request.socket.remoteAddress ?? ''
    const known = this.#known.get(client) ?? []
    for (const each of known)
      if (isSame(each.caller, decision)) {
        // The very lists that it comes with from now on are seen to be the same at a glance.
        if (each.caller.seatCount <= MAX_SEATS && each.caller.seats !== decision.seats)
          each.caller = callerOf(decision)
        return each.fields
      }
    const fields = fieldsOf(askedBy(exchange))
    this.#keep(client, { caller: callerOf(decision), fields })
    return fields
  }

  #keep(client: string, one: Known): void {
    if (this.#count === MOST) {
      this.#known = new ByPeer()
      this.#count = 0
    }
    const known = this.#known.get(client)
    if (known?.length === MOST_OF_PEER) known.shift()
    else this.#count++
    if (known === undefined) this.#known.set(client, [one])
    else known.push(one)
  }
}

/** Not the decision: its path would keep all of its request in memory. */
function callerOf({ route, permission, principal, space, source, seats }: Decision): Caller {
  const first = seats.length > MAX_SEATS ? seats.slice(0, MAX_SEATS) : seats
  const [caller, seatCount] = [identityOf(principal), seats.length]
  return { route, permission, principal: caller, space, source, seats: first, seatCount }
}

interface Known {
  caller: Caller
  readonly fields: string
}

/** Remembered of the same header lines: with one more, all are forgotten, and put together again. */
const MOST = 256
/** The same from one place, where the oldest goes first. */
const MOST_OF_PEER = 8

const callers = new MadeOf(() => new Callers())

function isSame(one: Caller, other: Decision): boolean {
  return (
    one.route === other.route &&
    one.permission === other.permission &&
    sameIdentity(one.principal, other.principal) &&
    one.space === other.space &&
    one.source === other.source &&
    one.seatCount === other.seats.length &&
    startsWithSeats(other.seats, one.seats)
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

/** The inner cause in one line: its code and message, never its stack or properties (an error may carry a request). */
function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  const code = 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ` : ''
  return `${code}${cause.message || cause.name}`
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
