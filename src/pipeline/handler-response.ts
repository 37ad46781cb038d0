/** Sends the response of a built-in endpoint. */

import { performance } from 'node:perf_hooks'
import type { Exchange } from '../http/server/exchange.ts'
import { nextHop } from '../http/server/next-hop.ts'
import type { LocalResponse } from '../model/route.ts'
import { ResponseFields } from '../http/wire/response-fields.ts'
import { bytesOf, RenderedPieces } from './rendered-body.ts'
import { discardBody } from '../http/server/discard-body.ts'

/** Bytes of an unread request body that are discarded after the response. */
const MAX_DISCARDED = 1024 * 1024

export function sendHandlerResponse(
  exchange: Exchange,
  { status, body, headers = [], cacheControl = 'no-store', contentType = 'application/json' }: LocalResponse,
): void {
  const { request, response } = exchange
  const hop = nextHop.get(exchange)
  if (hop !== undefined) hop.respondedAt = performance.now()
  // After `Expect: 100-continue` the client may omit its body (RFC 9110, section 10.1.1): the start of the next
  // request is unknown.
  if (exchange.expectsContinue) response.shouldKeepAlive = false
  const fields = ['cache-control', cacheControl, 'x-request-id', exchange.id, ...headers]
  if (body === undefined) {
    // 204 and 304 have no Content-Length (RFC 9110, section 8.6).
    if (status !== 204 && status !== 304) fields.push('content-length', '0')
    response.writeHead(status, ResponseFields.of(fields))
    response.end()
  } else {
    const pieces = body instanceof RenderedPieces ? body.pieces : [bytesOf(body)]
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    fields.push('content-type', contentType, 'content-length', String(length))
    response.writeHead(status, ResponseFields.of(fields))
    if (request.method !== 'HEAD') exchange.bytesOut += length
    const last = pieces.at(-1)
    for (const piece of pieces) if (piece !== last) response.write(piece)
    response.end(last)
  }
  discardBody(request, response, MAX_DISCARDED)
}
