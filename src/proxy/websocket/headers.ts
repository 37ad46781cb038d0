/**
 * The header lines of a handshake to the upstream, and of its 101 to the client: those of any request and response, and
 * the fields of the handshake.
 */

import type { IncomingMessage } from 'node:http'
import type { UpstreamConfig } from '../../config/config.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import type { ClientRequest } from '../../http/server/client-request.ts'
import { fieldLines } from '../../http/wire/field-line.ts'
import { ResponseFields } from '../../http/wire/response-fields.ts'
import type { TrustedProxies } from '../forwarded.ts'
import { foldName } from '../header-rules.ts'
import type { ResponseHead } from '../../http/client/upstream-request.ts'
import { requestHeaders } from '../request-headers.ts'
import { passing } from '../response-headers.ts'
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
  config: UpstreamConfig,
  proxies: TrustedProxies,
): string[] {
  const headers: string[] = []
  for (const { fields } of requestHeaders(exchange, config, proxies)) {
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i] ?? ''
      if (passes(name)) headers.push(name, fields[i + 1] ?? '')
    }
  }
  const { host } = exchange.request
  if (config.passHost && host !== null) headers.push('host', host)
  headers.push('connection', 'Upgrade', 'upgrade', 'websocket')
  headers.push('sec-websocket-version', '13', 'sec-websocket-key', keyOf(exchange.request))
  return headers
}

/** As the head of any response. */
export function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): ResponseHead {
  return { status: statusCode ?? 0, phrase: statusMessage ?? '', lines: fieldLines(rawHeaders) }
}

/** The fields of a validated 101. Throws if they cannot be passed to the client. */
export function responseHeaders(response: IncomingMessage, request: ClientRequest): ResponseFields {
  const headers = passing(headOf(response), true)
  if (typeof headers === 'string') throw new Error(headers)
  const added = ['Connection', 'Upgrade', 'Upgrade', 'websocket']
  added.push('Sec-WebSocket-Accept', acceptOf(keyOf(request)))
  return new ResponseFields([...headers.filter(({ name }) => passes(name)), ...fieldLines(added)])
}

function passes(name: string): boolean {
  const folded = foldName(name)
  return !GATEWAY_FIELDS.has(folded) && (!NEGOTIATED_FIELDS.has(folded) || name.toLowerCase() === folded)
}
