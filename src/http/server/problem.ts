/** Refusals on the wire: `application/problem+json` (RFC 9457). */

import { type ErrorCode, errors, type Refusal } from '../../model/errors.ts'
import type { BodySink, ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import { fieldLines } from '../wire/field-line.ts'
import { ResponseFields } from '../wire/response-fields.ts'

/** Unread request bytes that are read and thrown away so that the connection can go on. */
const MAX_DISCARD = 1024 * 1024
/** Who sends such a request is no client to go on with, or its next one could not be told from the rest of this one. */
const CLOSING_CODES: ReadonlySet<ErrorCode> = new Set([
  'request_malformed',
  'uri_too_long',
  'headers_too_large',
  'request_timeout',
])
/** Milliseconds that a refused body may take to arrive before the connection is closed under it. */
const DISCARD_TIME = 5000

/** The body. `request_id` finds the log line that knows more. */
export function problemBody(refusal: Refusal, requestId: string): string {
  const { status, title } = errors[refusal.code]
  return JSON.stringify({
    type: `urn:seatgate:${refusal.code}`,
    title,
    status,
    code: refusal.code,
    detail: refusal.detail,
    request_id: requestId,
    ...(refusal.faults === null ? {} : { errors: refusal.faults }),
  })
}

/** The body as it is sent, with its Content-Type: the page where the refusal has one, else the problem document. */
export function problemContent(refusal: Refusal, requestId: string): { type: string; text: string } {
  const { page } = refusal
  if (page === null) return { type: 'application/problem+json', text: problemBody(refusal, requestId) }
  return { type: 'text/html; charset=utf-8', text: page.html(requestId) }
}

/** Header fields beside Content-Type and Content-Length, flat: name, value, … */
export function problemHeaders(refusal: Refusal, requestId: string): string[] {
  const headers = ['Cache-Control', 'no-store', 'X-Request-Id', requestId]
  const challenge = challengeOf(refusal)
  if (challenge !== null) headers.push('WWW-Authenticate', challenge)
  if (refusal.allow !== null) headers.push('Allow', refusal.allow)
  if (refusal.status === 503) headers.push('Retry-After', '1')
  if (refusal.page !== null) headers.push(...refusal.page.headers)
  // RFC 9110, section 15.5.22; RFC 6455, section 4.4.
  if (refusal.status === 426)
    headers.push('Connection', 'Upgrade, close', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', '13')
  return headers
}

/** RFC 9110, section 11.6.1; the error attribute by RFC 6750, section 3.1. */
function challengeOf(refusal: Refusal): string | null {
  if (refusal.status !== 401) return null
  const realm = 'Bearer realm="seatgate"'
  return refusal.code.startsWith('token_') ? `${realm}, error="invalid_token"` : realm
}

/**
 * Answers with the refusal. Nothing may have been answered yet.
 *
 * @param awaited the client waits for `100 Continue` and was not given it: it may send the body or leave it out, so
 *   nobody can say where its next request begins
 */
export function writeProblem(
  request: ClientRequest,
  response: ClientResponse,
  refusal: Refusal,
  requestId: string,
  expectsContinue: boolean,
): void {
  const { type, text } = problemContent(refusal, requestId)
  const length = Buffer.byteLength(text)
  // Of one byte a character, as nearly always: it goes out in one piece with the head.
  const body = length === text.length ? text : Buffer.from(text)
  const headers = problemHeaders(refusal, requestId)
  headers.push('Content-Type', type, 'Content-Length', String(length))
  const unread = !request.complete
  // A long body costs more than a new connection does. One of chunks may turn out to be short.
  const tooLong = request.length !== Infinity && request.length > MAX_DISCARD
  if (expectsContinue || CLOSING_CODES.has(refusal.code) || (unread && tooLong))
    response.shouldKeepAlive = false
  const close = !response.shouldKeepAlive
  response.writeHead(refusal.status, new ResponseFields(fieldLines(headers)))
  response.end(body)
  // Where the connection is to be closed, it is read on by who closes it.
  if (unread && !close) request.deliver(new BodyDiscard(request))
}

/** Reads on, within bounds, so that the connection can be kept. Beyond them it is closed. */
class BodyDiscard implements BodySink {
  readonly #request: ClientRequest
  readonly #timer: NodeJS.Timeout
  #bytes = 0

  constructor(request: ClientRequest) {
    this.#request = request
    this.#timer = setTimeout(onTime, DISCARD_TIME, this)
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > MAX_DISCARD) this.stop()
  }

  end(): void {
    clearTimeout(this.#timer)
  }

  aborted(): void {
    clearTimeout(this.#timer)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#request.abandon()
  }
}

function onTime(body: BodyDiscard): void {
  body.stop()
}

/** The whole answer as bytes, for what is no request: no response object exists. */
export function rawProblem(refusal: Refusal, requestId: string): string {
  const body = problemBody(refusal, requestId)
  const headers = problemHeaders(refusal, requestId)
  const lines = [`HTTP/1.1 ${refusal.status} ${errors[refusal.code].title}`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  lines.push('Content-Type: application/problem+json', `Content-Length: ${Buffer.byteLength(body)}`)
  lines.push(`Date: ${new Date().toUTCString()}`, 'Connection: close', '', body)
  return lines.join('\r\n')
}
