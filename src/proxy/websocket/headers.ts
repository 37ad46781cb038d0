/**
 * The header lines of a handshake on its way to the upstream, and of its 101 on the way back: those of any request and
 * answer, and what a handshake has besides.
 */

import type { IncomingMessage } from 'node:http'
import type { UpstreamConfig } from '../../config/config.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import type { ClientRequest } from '../../http/server/client-request.ts'
import { fieldLines } from '../../http/wire/field-line.ts'
import { ResponseFields } from '../../http/wire/response-fields.ts'
import type { TrustedProxies } from '../forwarded.ts'
import { foldName } from '../header-names.ts'
import type { ResponseHead } from '../../http/client/upstream-request.ts'
import { requestHeaders } from '../request-headers.ts'
import { passing } from '../response-headers.ts'
import { acceptOf, keyOf } from './handshake.ts'

/** Written here, whatever the client's lines or its Connection say about them. */
const GATEWAY_FIELDS = new Set([
  'connection',
  'content-length',
  'sec-websocket-accept',
  'sec-websocket-key',
  'sec-websocket-version',
  'trailer',
  'upgrade',
])
/** Chosen by the two ends. A second spelling of them is nobody's honest header. */
const NEGOTIATED_FIELDS = new Set(['sec-websocket-extensions', 'sec-websocket-protocol'])

/** All but Host, where that is the target's. */
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

/** As any answer's. */
export function headOf({ statusCode, statusMessage, rawHeaders }: IncomingMessage): ResponseHead {
  return { status: statusCode ?? 0, phrase: statusMessage ?? '', lines: fieldLines(rawHeaders), made: null }
}

/** Of a 101 that was found to be right. Throws when the client can't be given it. */
export function responseHeaders(answer: IncomingMessage, request: ClientRequest): ResponseFields {
  const headers = passing(headOf(answer), true)
  if (typeof headers === 'string') throw new Error(headers)
  const added = ['Connection', 'Upgrade', 'Upgrade', 'websocket']
  added.push('Sec-WebSocket-Accept', acceptOf(keyOf(request)))
  return new ResponseFields([...headers.filter(({ name }) => passes(name)), ...fieldLines(added)])
}

function passes(name: string): boolean {
  const folded = foldName(name)
  return !GATEWAY_FIELDS.has(folded) && (!NEGOTIATED_FIELDS.has(folded) || name.toLowerCase() === folded)
}
