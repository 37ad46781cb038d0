/**
 * The access log: one line a request, with the main fields of the decision record and the course of the
 * response. A line holds no query, cookie or token, and of header values only host, user agent and trace id.
 */

import type { Refusal, RefusedCaller } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { grpcStatus } from '../http/server/grpc-exchange.ts'
import { nextHop } from '../http/server/next-hop.ts'
import { type OpenWebSocket, openedWebSocket } from '../http/server/open-web-socket.ts'
import { externalQuestion } from '../http/server/question.ts'
import { requestTrace } from '../http/server/request-trace.ts'
import { fieldName } from '../http/wire/field-name.ts'
import { detachedText } from '../lib/heap-size.ts'
import { decisionFields } from './decision-fields.ts'
import { quoted, quotedOrNull } from './json-text.ts'
import { traceParentOf } from './tracing/trace-context.ts'

/**
 * Writes a line.
 *
 * @param fields as JSON text without the braces
 */
type WriteLine = (level: 'info' | 'error', message: string, fields: string) => void

export class AccessLog {
  readonly #write: WriteLine
  readonly #askedBy: string

  /** @param askedBy the protocol of the requests; null for the requests of the front door */
  constructor(write: WriteLine, askedBy: string | null = null) {
    this.#write = write
    this.#askedBy = askedBy === null ? '' : `,"asked_by":"${askedBy}"`
  }

  /** @param client its address, as trusted proxies name it */
  write(exchange: Exchange, client: string | null = peerOf(exchange)): void {
    const { refusal } = exchange
    // 5xx are faults of the gateway or an upstream: level `error`.
    const level = refusal !== null && refusal.status >= 500 ? 'error' : 'info'
    this.#write(level, 'request', accessLine(exchange, client) + this.#askedBy)
  }

  /** A request without a readable request line and header section. */
  writeUnreadable(requestId: string, refusal: Refusal, client: string | undefined): void {
    const { code, status } = refusal
    this.#write('info', 'request', fieldsOf({ request_id: requestId, status, code, client: client ?? null }))
  }
}

/** The status of the response; 0 if the client disconnected before it. */
export function statusOf(exchange: Exchange): number {
  return exchange.response.headersSent ? exchange.response.statusCode : (exchange.refusal?.status ?? 0)
}

/** The fields of the line, as JSON text without the braces. */
export function accessLine(exchange: Exchange, client: string | null = peerOf(exchange)): string {
  return `${exchangeFields(exchange)},${callerFields(exchange, client)}${refusalFields(exchange)}`
}

/**
 * The fields that differ by request. Durations in ms with three decimals, sizes in bytes. Concatenated, as V8
 * takes three times as long for an object. The id, the method (a token) and our own words need no JSON
 * escapes.
 */
function exchangeFields(exchange: Exchange): string {
  const { id, request, refusal, cause } = exchange
  const [grpc, hop, webSocket] = [
    grpcStatus.get(exchange),
    nextHop.get(exchange),
    openedWebSocket.get(exchange),
  ]
  const decision = exchange.evaluation?.decision
  const code = refusal?.code ?? decision?.code ?? null
  let text = `"request_id":"${id}","method":"${request.method}","path":${decision === undefined ? 'null' : quoted(decision.path)}`
  text += `,"host":${hostText(request.host)},"status":${statusOf(exchange)},"code":${code === null ? 'null' : `"${code}"`}`
  if (grpc !== undefined) text += `,"grpc_status":${grpc}`
  // A refusal after the decision hides its code.
  if (decision !== undefined && decision.code !== code) text += `,"decision":"${decision.code}"`
  // The tables that decided: not the current ones, when a reload came in between.
  if (decision !== undefined && decision.config !== null) text += `,"config":"${decision.config}"`
  if (exchange.evaluation?.preflight != null) text += ',"preflight":true'
  text += exchange.logFields
  if (exchange.aborted) text += ',"aborted":true'
  if (webSocket !== undefined) text += webSocketFields(webSocket)
  text += `,"duration_ms":${round(exchange.endedAt - exchange.startedAt)}`
  if (decision !== undefined) text += `,"decision_us":${Math.round(decision.timings.total)}`
  if (hop !== undefined && hop.respondedAt > 0)
    text += `,"upstream_ms":${round(hop.respondedAt - hop.startedAt)}`
  text += `,"bytes_in":${exchange.bytesIn},"bytes_out":${exchange.bytesOut}`
  if (cause !== null && cause !== undefined) text += `,"cause":${JSON.stringify(describe(cause))}`
  return text
}

/** Characters. Host names are shorter. */
const MAX_HOST = 255

/** The last host and its text: most gateways serve a few. */
const last = { host: '', text: '""' }

/** The host in lower case and without port, as tables name hosts. */
function hostText(host: string | null): string {
  if (host === null) return 'null'
  if (host === last.host) return last.text
  const text = quoted(nameOf(host))
  // A slice of the request would retain the whole request with its credentials.
  if (host.length <= MAX_HOST) Object.assign(last, { host: detachedText(host), text: detachedText(text) })
  return text
}

function nameOf(host: string): string {
  const colon = host.lastIndexOf(':')
  const end = colon > host.lastIndexOf(']') ? colon : host.length
  return host.slice(0, Math.min(end, MAX_HOST)).toLowerCase()
}

function webSocketFields({ endedBy, closeCode }: OpenWebSocket): string {
  const end = endedBy === null ? '' : `,"ended_by":"${endedBy}"`
  return closeCode === null ? end : `${end},"close_code":${closeCode}`
}

/** V8 serialises an object in a fifth of the time that pino takes. */
function fieldsOf(line: Record<string, unknown>): string {
  return JSON.stringify(line).slice(1, -1)
}

const USER_AGENT = fieldName('user-agent')
/** Characters. Browsers and tools send fewer than 300. */
const MAX_USER_AGENT = 1024

/**
 * The client as trusted proxies name it, and the peer; of a question, the client that the asking proxy names,
 * and the proxy.
 */
function clientFields(exchange: Exchange, client: string | null): string {
  const question = externalQuestion.get(exchange)
  const { section, socket } = exchange.request
  const peer = socket.remoteAddress ?? null
  const userAgent = section.fields.values(USER_AGENT)[0] ?? null
  let text =
    question === undefined
      ? `"client":${quotedOrNull(client)},"peer":${quotedOrNull(peer)}`
      : `"asked_by":"${question.askedBy}","asked_from":${quotedOrNull(peer)},"client":${quotedOrNull(question.client)}`
  if (userAgent !== null) text += `,"user_agent":${quoted(userAgent.slice(0, MAX_USER_AGENT))}`
  // Without tracing of our own, the field passes to the upstream, and the sender's trace continues there.
  const traceId = requestTrace.get(exchange)?.traceId ?? traceParentOf(section.fields)?.traceId
  if (traceId !== undefined) text += `,"trace_id":"${traceId}"`
  return text
}

function callerFields(exchange: Exchange, client: string | null): string {
  const decision = exchange.evaluation?.decision
  const sender = clientFields(exchange, client)
  if (decision === undefined) return sender
  const { principal, grantedIn } = decision
  const refused = principal === null ? refusedCallerFields(refusedCaller(exchange)) : ''
  const text = sender + decisionFields(decision, nextHop.get(exchange)?.target ?? null, refused)
  return grantedIn.length === 0 ? text : `${text},"granted_in":[${grantedIn.map(quoted).join(',')}]`
}

function refusedCallerFields(caller: RefusedCaller | null): string {
  if (caller === null) return ''
  const user = caller.user === null ? '' : `,"user":${quoted(caller.user)}`
  return `,"tenant":${quoted(caller.tenant)}${user}`
}

/** A browser's refusal may have become a redirect to sign-in. */
function refusedCaller({ refusal, evaluation }: Exchange): RefusedCaller | null {
  return refusal?.caller ?? evaluation?.refusal?.caller ?? null
}

function refusalFields({ refusal }: Exchange): string {
  return refusal === null ? '' : `,"detail":${quoted(refusal.detail)}`
}

/** The address of the peer; null if the connection is closed. */
function peerOf({ request }: Exchange): string | null {
  return request.socket.remoteAddress ?? null
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
