/** The answer of a built-in endpoint. */

import { performance } from 'node:perf_hooks'
import type { Exchange } from '../http/server/exchange.ts'
import type { LocalResponse } from '../model/route.ts'
import { fieldLines } from '../http/wire/field-line.ts'
import { ResponseFields } from '../http/wire/response-fields.ts'
import { discardBody } from '../proxy/discard-body.ts'

/** Bytes of an ignored body that may still come after the answer. */
const IGNORED = 1024 * 1024

/** Never cached, as it is about somebody. @param more further headers: name, value, … */
export function sendHandlerResponse(
  exchange: Exchange,
  { status, body }: LocalResponse,
  more: readonly string[] = [],
): void {
  const { request, response } = exchange
  exchange.respondedAt = performance.now()
  // The client may send its body or leave it out: nobody can say where its next request begins.
  if (exchange.expectsContinue) response.shouldKeepAlive = false
  const headers = ['cache-control', 'no-store', 'x-request-id', exchange.id, ...more]
  if (body === undefined) {
    // 204 and 304 have no length (RFC 9110, section 8.6).
    if (status !== 204 && status !== 304) headers.push('content-length', '0')
    response.writeHead(status, new ResponseFields(fieldLines(headers)))
    response.end()
  } else {
    const bytes = Buffer.from(JSON.stringify(body))
    headers.push('content-type', 'application/json', 'content-length', String(bytes.length))
    response.writeHead(status, new ResponseFields(fieldLines(headers)))
    if (request.method !== 'HEAD') exchange.bytesOut += bytes.length
    response.end(bytes)
  }
  discardBody(request, response, IGNORED)
}
