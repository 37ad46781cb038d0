/** Refusals on the wire: `application/problem+json` (RFC 9457). Called by the pipeline and the listeners. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ErrorCode, errors, type Refusal } from '../errors.ts'

/** Unread request bytes that are read and thrown away so that the connection can go on. */
const MAX_DRAIN = 1024 * 1024
/** Who sends such a request is no client to go on with. */
const CLOSING: ReadonlySet<ErrorCode> = new Set(['request_malformed', 'uri_too_long', 'headers_too_large'])
/** Milliseconds that a refused body may take to arrive before the connection is closed under it. */
const DRAIN_TIME = 5000

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

/** Header fields beside Content-Type and Content-Length, flat: name, value, … */
export function problemHeaders(refusal: Refusal, requestId: string): string[] {
  const headers = ['Cache-Control', 'no-store', 'X-Request-Id', requestId]
  const challenge = challengeOf(refusal)
  if (challenge !== null) headers.push('WWW-Authenticate', challenge)
  if (refusal.allow !== null) headers.push('Allow', refusal.allow)
  if (refusal.status === 503) headers.push('Retry-After', '1')
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
 * @returns whether the connection closes: what else comes on it is no request
 */
export function writeProblem(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal,
  requestId: string,
  awaited: boolean,
): boolean {
  const body = problemBody(refusal, requestId)
  const headers = problemHeaders(refusal, requestId)
  headers.push('Content-Type', 'application/problem+json', 'Content-Length', String(Buffer.byteLength(body)))
  // Without a body there is nothing to come, though Node says so only later.
  const unread = !request.complete && hasBody(request)
  const close = awaited || CLOSING.has(refusal.code) || (unread && isLong(request))
  if (close) headers.push('Connection', 'close')
  response.writeHead(refusal.status, headers)
  if (request.method !== 'HEAD') response.write(body)
  if (unread) throwAway(request, close ? () => response.end() : null)
  if (!unread || !close) response.end()
  return close
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** A long body costs more than a new connection does. */
function isLong(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? 0) > MAX_DRAIN
}

/**
 * Reads on, within bounds. Closing at once with bytes unread resets the connection, and the client may never see the
 * answer (RFC 9112, section 9.6). So the answer goes out whole first, and what still comes is thrown away for a while.
 *
 * @param then ends a connection that is to be closed; null keeps it for the next request, if the body ends in time
 */
function throwAway(request: IncomingMessage, then: (() => void) | null): void {
  const { socket } = request
  let bytes = 0
  const stop = () => {
    clearTimeout(timer)
    request.off('data', count).off('end', stop)
    socket.off('close', stop)
    then?.()
    if (then === null && !request.complete) socket.destroy()
  }
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > MAX_DRAIN) stop()
  }
  const timer = setTimeout(stop, DRAIN_TIME)
  request.on('data', count).once('end', stop)
  // A request tells nothing of its connection's end any more once it has been answered.
  socket.once('close', stop)
}

/** The whole answer as bytes, for a request that Node's parser gave up on (no response object exists). */
export function rawProblem(refusal: Refusal, requestId: string): string {
  const body = problemBody(refusal, requestId)
  const headers = problemHeaders(refusal, requestId)
  const lines = [`HTTP/1.1 ${refusal.status} ${errors[refusal.code].title}`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  lines.push('Content-Type: application/problem+json', `Content-Length: ${Buffer.byteLength(body)}`)
  lines.push(`Date: ${new Date().toUTCString()}`, 'Connection: close', '', body)
  return lines.join('\r\n')
}
