/** Answers a granted CORS preflight. */

import type { Exchange } from '../../http/server/exchange.ts'
import { FieldLines } from '../../http/wire/field-lines.ts'
import { ResponseFields } from '../../http/wire/response-fields.ts'
import { discardBody } from '../../http/server/discard-body.ts'
import { ANSWERED, type Stage } from '../stage.ts'

/** Bytes of an unread request body that are discarded after the response. */
const MAX_DISCARDED = 64 * 1024

export const grantPreflight: Stage = (exchange, next) => {
  const { preflight } = exchange.allowed
  if (preflight === null) return next(exchange)
  sendGrant(exchange, preflight)
  return ANSWERED
}

/** @param lines `Access-Control-*` and Vary, each with its CRLF */
function sendGrant(exchange: Exchange, lines: string): void {
  const { request, response, id, expectsContinue } = exchange
  // The client may send its body or leave it out (RFC 9110, section 10.1.1).
  if (expectsContinue) response.shouldKeepAlive = false
  const fields = ResponseFields.of(['Cache-Control', 'no-store', 'X-Request-Id', id])
  response.writeHead(204, fields, null, new FieldLines(lines, null))
  response.end()
  discardBody(request, response, MAX_DISCARDED)
}
