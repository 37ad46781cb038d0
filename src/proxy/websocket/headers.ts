/**
 * The header lines of a handshake to the upstream, and of its 101 to the client: those of any request and response, and
 * the fields of the handshake.
 */

import type { IncomingMessage } from 'node:http'
import type { Exchange } from '../../http/server/exchange.ts'
import { FieldTable } from '../../http/wire/field-table.ts'
import { ResponseFields } from '../../http/wire/response-fields.ts'
import { foldName } from '../header-rules.ts'
import type { ResponseHead } from '../../http/client/upstream-request.ts'
import { requestHeaders } from '../request-headers.ts'
import { responseHeaders as forwardedHeaders } from '../response-headers.ts'
import type { Upstream } from '../upstream.ts'
import { acceptOf, keyOf } from './handshake.ts'

/** Fields that the gateway writes, whatever the client sends or names in Connection. */
const GATEWAY_FIELDS = new Set([
  'connection',
  'content-length',
  'sec-websocket-accept',
  'sec-websocket-key',
  'sec-websocket-version',
  'trailer',
  'upgrade',
])
/** Negotiated by the two ends. Other spellings of them are dropped, as only an attack sends such. */
const NEGOTIATED_FIELDS = new Set(['sec-websocket-extensions', 'sec-websocket-protocol'])

/** All fields but Host, if that is the authority of the target. */
export function handshakeHeaders(
  exchange: Exchange,
  { config, proxies, identity }: Pick<Upstream, 'config' | 'proxies' | 'identity'>,
): string[] {
  const headers: string[] = []
  for (const lines of requestHeaders(exchange, config, proxies, identity)) {
    if (!lines.writable) throw new Error('the request contains bytes that cannot be written')
    headers.push(...passingPairs(lines.pairs))
  }
  const { host } = exchange.request
  if (config.passHost && host !== null) headers.push('host', host)
  headers.push('connection', 'Upgrade', 'upgrade', 'websocket')
  headers.push('sec-websocket-version', '13', 'sec-websocket-key', keyOf(exchange.request))
  return headers
}

/** As the head of any response. Throws on malformed fields. @param pairs name, value, … */
export function headOf(
  { statusCode, statusMessage }: IncomingMessage,
  pairs: readonly string[],
): ResponseHead {
  const fields = FieldTable.of(pairs)
  if (fields === null) throw new Error('a header field is malformed')
  return { status: statusCode ?? 0, phrase: statusMessage ?? '', fields }
}

/** The fields of a validated 101. Throws if they cannot be passed to the client. */
export function responseHeaders(response: IncomingMessage, { request, isLimited }: Exchange): ResponseFields {
  const head = headOf(response, passingPairs(response.rawHeaders))
  const fields = forwardedHeaders(head, true, null, isLimited)
  if (typeof fields === 'string') throw new Error(fields)
  const own = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${acceptOf(keyOf(request))}\r\n`
  const { length, hasDate } = fields
  return new ResponseFields(fields.text + own, { length, connection: 'Upgrade', hasDate }, null)
}

function passingPairs(pairs: readonly string[]): string[] {
  return pairs.filter((_, i) => passes(pairs[i - (i % 2)] ?? ''))
}

function passes(name: string): boolean {
  const folded = foldName(name)
  return !GATEWAY_FIELDS.has(folded) && (!NEGOTIATED_FIELDS.has(folded) || name.toLowerCase() === folded)
}
