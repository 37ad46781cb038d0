/**
 * The access log: one line a request, with the main fields of the decision record and the course of the response.
 * A line holds no header value, query, cookie or token.
 */

import type { Refusal } from '../model/errors.ts'
import type { Exchange, OpenWebSocket } from '../http/server/exchange.ts'
import type { Decision } from '../model/decision.ts'
import type { SeatClaims } from '../model/principal.ts'
import { upstreamOf } from '../model/route.ts'

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
  return `${exchangeFields(exchange)},${callerFields(exchange)}`
}

/**
 * The fields that differ by request. Durations in ms with three decimals, sizes in bytes. Concatenated, as V8 takes
 * three times as long for an object. The id, the method (a token) and our own words need no JSON escapes.
 */
function exchangeFields(exchange: Exchange): string {
  const { id, request, refusal, webSocket, cause } = exchange
  const decision = exchange.evaluation?.decision
  const code = refusal?.code ?? decision?.code ?? null
  let text = `"request_id":"${id}","method":"${request.method}","path":${decision === undefined ? 'null' : quoted(decision.path)}`
  text += `,"status":${statusOf(exchange)},"code":${code === null ? 'null' : `"${code}"`}`
  // A refusal after the decision hides its code.
  if (decision !== undefined && decision.code !== code) text += `,"decision":"${decision.code}"`
  // The tables that decided: not the current ones, when a reload came in between.
  if (decision !== undefined && decision.config !== null) text += `,"config":"${decision.config}"`
  if (exchange.shadow !== null) text += `,"shadow":"${exchange.shadow}"`
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

function callerFields(exchange: Exchange): string {
  const decision = exchange.evaluation?.decision
  const { remoteAddress } = exchange.request.socket
  const client = `"client":${remoteAddress === undefined ? 'null' : quoted(remoteAddress)}`
  if (decision === undefined) return client
  const { route, permission, principal, space, source, grantedIn } = decision
  let text = client
  if (route !== null) text += `,"route":${quoted(route.id)},"upstream":${quoted(upstreamOf(route))}`
  if (permission !== null) text += `,"permission":${quoted(permission)}`
  if (principal !== null)
    text += `,"tenant":${quoted(principal.tenant)},"user":${quoted(principal.user)},"auth":"${principal.method}"${claimsFields(principal.claims)}`
  if (space !== null) text += `,"space":${quoted(space)}`
  if (source !== null) text += `,"source":"${source}"`
  const seats = seatsOf(decision)
  if (seats !== '') text += `,"seats":[${seats}]`
  return grantedIn.length === 0 ? text : `${text},"granted_in":[${grantedIn.map(quoted).join(',')}]`
}

/** What tells, beside the names, which Seats a credential means: a replay resolves them again. */
function claimsFields(claims: SeatClaims): string {
  if (claims.by === 'id') return `,"seat_ids":[${listed(claims.seats, quoted)}]`
  const { by, issuedAt } = claims
  const anySpace = by === 'any-space' ? ',"any_space":true' : ''
  return `,"issued_at":${Number.isFinite(issuedAt) ? issuedAt : 'null'}${anySpace}`
}

/** On an `authenticated` route no Seat is looked up: the names are those of the credential. */
function seatsOf({ seats, permission, principal, space }: Decision): string {
  if (permission !== 'authenticated')
    return listed(seats, ({ name, verdict }) => quoted(`${name}:${verdict}`))
  if (principal === null || space === null || principal.claims.by === 'id') return ''
  const { claims } = principal
  const names = (claims.by === 'name' ? claims.entries.get(space) : claims.names) ?? []
  return listed(names, (name) => quoted(`${name}:named`))
}

function listed<V>(all: readonly V[], written: (each: V) => string): string {
  if (all.length <= MAX_SEATS) return all.map(written).join(',')
  const shown = all.slice(0, MAX_SEATS).map(written)
  return `${shown.join(',')},"+${all.length - MAX_SEATS} more"`
}

/** Text that JSON does not escape: most is, and checking it takes less time than `JSON.stringify`. */
const PLAIN = /^[ !#-[\]-~]*$/

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
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
