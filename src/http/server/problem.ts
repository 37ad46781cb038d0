/** Refusals as `application/problem+json` (RFC 9457). */

import { type ErrorCode, errors, type Refusal } from '../../model/errors.ts'
import type { ClientRequest } from './client-request.ts'
import { grpcProblemFields, speaksGrpc } from './grpc-problem.ts'
import { type ClientResponse, dateLine } from './client-response.ts'
import { discardBody } from './discard-body.ts'
import { FieldLines } from '../wire/field-lines.ts'
import type { Http2Stream } from '../wire/http2/stream.ts'
import { ResponseFields } from '../wire/response-fields.ts'

/** Unread request bytes that are discarded to keep the connection. */
const MAX_DISCARD = 1024 * 1024
/** Codes that close the connection: the client is faulty, or the start of its next request is unknown. */
const CLOSING_CODES: ReadonlySet<ErrorCode> = new Set([
  'request_malformed',
  'uri_too_long',
  'headers_too_large',
  'request_timeout',
])

/** Refuses a request without a readable head. In HTTP/1.1 it is the last response of the connection. */
export type RespondUnparsed = (refusal: Refusal, requestId: string) => void

/** The problem document, with a line end for terminals. `request_id` leads to the log line. */
export function problemBody(refusal: Refusal, requestId: string): string {
  const { status, title } = errors[refusal.code]
  const document = JSON.stringify({
    type: `urn:seatgate:${refusal.code}`,
    title,
    status,
    code: refusal.code,
    detail: refusal.detail,
    request_id: requestId,
    ...(refusal.faults === null ? {} : { errors: refusal.faults }),
    ...refusal.members,
  })
  return `${document}\n`
}

/** The body and its Content-Type: the page of the refusal if it has one, otherwise the problem document. */
export function problemContent(refusal: Refusal, requestId: string): { type: string; text: string } {
  const { page } = refusal
  if (page === null) return { type: 'application/problem+json', text: problemBody(refusal, requestId) }
  return { type: page.type, text: page.text(requestId) }
}

/** The other header fields, flat: name, value, … */
export function problemHeaders(refusal: Refusal, requestId: string): string[] {
  const headers = ['Cache-Control', 'no-store', 'X-Request-Id', requestId]
  const challenge = challengeOf(refusal)
  if (challenge !== null) headers.push('WWW-Authenticate', challenge)
  if (refusal.allow !== null) headers.push('Allow', refusal.allow)
  if (refusal.retryAfter !== null)
    headers.push('Retry-After', String(Math.max(1, Math.ceil(refusal.retryAfter / 1000))))
  else if (refusal.status === 503) headers.push('Retry-After', '1')
  if (refusal.page !== null) headers.push(...refusal.page.headers)
  // RFC 9110, section 15.5.22; RFC 6455, section 4.4.
  if (refusal.status === 426)
    headers.push('Connection', 'Upgrade, close', 'Upgrade', 'websocket', 'Sec-WebSocket-Version', '13')
  return headers
}

/** RFC 9110, section 11.6.1; the error attribute by RFC 6750, section 3.1. */
function challengeOf(refusal: Refusal): string | null {
  const { challenge } = refusal.page ?? {}
  if (challenge !== undefined) return challenge
  if (refusal.status !== 401) return null
  const realm = 'Bearer realm="seatgate"'
  return refusal.code.startsWith('token_') ? `${realm}, error="invalid_token"` : realm
}

/**
 * Responds with the refusal. No head may have been set before.
 *
 * @param expectsContinue the client waits for `100 Continue`: it may send or omit the body, so the start of
 *   its next request is unknown
 * @param extra further header lines
 * @returns bytes of the body
 */
export function writeProblem(
  request: ClientRequest,
  response: ClientResponse,
  refusal: Refusal,
  requestId: string,
  expectsContinue: boolean,
  extra: FieldLines = FieldLines.none,
): number {
  if (speaksGrpc(request)) {
    response.writeHead(200, ResponseFields.of(grpcProblemFields(refusal, requestId)), null, extra)
    response.end()
    return 0
  }
  const { type, text } = problemContent(refusal, requestId)
  const length = Buffer.byteLength(text)
  // A text of one byte a character, as nearly always, leaves in one write with the head.
  const body = length === text.length ? text : Buffer.from(text)
  const headers = problemHeaders(refusal, requestId)
  headers.push('Content-Type', type, 'Content-Length', String(length))
  // Discarding a long body costs more than a new connection. A chunked body may turn out to be short.
  const tooLong = request.length !== Infinity && request.length > MAX_DISCARD
  if (expectsContinue || CLOSING_CODES.has(refusal.code) || (!request.complete && tooLong))
    response.shouldKeepAlive = false
  const persists = response.shouldKeepAlive
  response.writeHead(refusal.status, ResponseFields.of(headers), null, extra)
  response.end(body)
  // The lingering close reads from connections that are to be closed.
  if (persists) discardBody(request, response, MAX_DISCARD)
  return request.method === 'HEAD' ? 0 : length
}

/**
 * The complete response on a stream of HTTP/2 without a readable request.
 *
 * @param isHead the response has no content (RFC 9110, section 9.3.2)
 */
export function writeStreamProblem(
  stream: Http2Stream,
  isHead: boolean,
  refusal: Refusal,
  requestId: string,
): void {
  const body = Buffer.from(problemBody(refusal, requestId))
  const status = [':status', String(refusal.status)]
  stream.headers(status, isHead, problemLines(refusal, requestId, body.length))
  if (!isHead) stream.end(body)
}

/**
 * The fields of a complete response, as lines.
 *
 * @param length bytes of the problem document
 */
export function problemLines(refusal: Refusal, requestId: string, length: number): string {
  const headers = problemHeaders(refusal, requestId)
  headers.push('Content-Type', 'application/problem+json', 'Content-Length', String(length))
  return FieldLines.of(headers).text + dateLine()
}

/** The complete response as text, for connections without a valid request, which have no response object. */
export function rawProblem(refusal: Refusal, requestId: string): string {
  const body = problemBody(refusal, requestId)
  const lines = problemLines(refusal, requestId, Buffer.byteLength(body))
  const line = `HTTP/1.1 ${refusal.status} ${errors[refusal.code].title}`
  return `${line}\r\n${lines}Connection: close\r\n\r\n${body}`
}
