/**
 * The handshake of a WebSocket (RFC 6455, section 4): the checks of the client's request, so that no
 * intermediary can read it as anything else, and of the upstream's response, so that a tunnel opens only if
 * the upstream has one. It writes the header lines of the request to the upstream, and of the 101 to the
 * client: the lines of any request or response, and the fields of the handshake.
 */

import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../model/errors.ts'
import type { ResponseHead } from '../../http/client/upstream-request.ts'
import type { ClientRequest } from '../../http/server/client-request.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { isLimited } from '../../http/server/gateway-lines.ts'
import { isLongList, MAX_LIST_ELEMENTS } from '../../http/wire/fields.ts'
import { FieldTable } from '../../http/wire/field-table.ts'
import { ResponseFields } from '../../http/wire/response-fields.ts'
import { foldName } from '../header-rules.ts'
import { requestHeaders } from '../request-headers.ts'
import { responseHeaders } from '../response-headers.ts'
import type { Upstream } from '../upstream.ts'

const malformed = (detail: string) => new Refusal('request_malformed', detail)

const wrongMethodOrVersion = malformed('A WebSocket handshake must be a GET request of HTTP/1.1.')
const notUpgrade = malformed(
  'A WebSocket handshake must have a single Upgrade: websocket, and a Connection with upgrade.',
)
const badKey = malformed('A WebSocket handshake must have a single Sec-WebSocket-Key: 16 bytes in base64.')
const noVersion = malformed('A WebSocket handshake must have a single Sec-WebSocket-Version.')
const longOffer = malformed(
  `A WebSocket handshake must not offer more than ${MAX_LIST_ELEMENTS} subprotocols or extensions.`,
)
const hasBody = malformed('A WebSocket handshake must not have a body.')
const unsupportedVersion = new Refusal(
  'upgrade_required',
  'The gateway supports version 13 of WebSockets only.',
)

/** Bytes arrived between a handshake and its response (RFC 6455, section 4.1). */
export const earlyBytes: Refusal = malformed(
  'Bytes arrived after a WebSocket handshake and before its response.',
)

/** Offered by the client, selected by the upstream. Other spellings are dropped: only attacks have them. */
const NEGOTIATED_FIELDS = ['sec-websocket-protocol', 'sec-websocket-extensions']

/** Fields that the gateway writes, whatever the client sends or names in Connection. */
const GATEWAY_FIELDS = [
  'connection',
  'content-length',
  'sec-websocket-accept',
  'sec-websocket-key',
  'sec-websocket-version',
  'trailer',
  'upgrade',
]

/** 16 bytes in base64: the last of the 22 digits has only two significant bits. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/

/** Whether the request is a valid WebSocket handshake. */
export function isHandshake(request: ClientRequest): boolean {
  return requestsWebSocket(request) && handshakeFault(request) === null
}

/** The fault of an attempted handshake; null for any other request. */
export function strayHandshake(request: ClientRequest): Refusal | null {
  return requestsWebSocket(request) ? handshakeFault(request) : null
}

/** Valid or not. A request that asks for other protocols only is an ordinary request. */
function requestsWebSocket({ upgrade }: ClientRequest): boolean {
  return upgrade !== null && tokens([upgrade]).includes('websocket')
}

/** The fault of an attempted handshake; null if it is valid. */
function handshakeFault({ method, minor, length, expect, rawHeaders }: ClientRequest): Refusal | null {
  if (method !== 'GET' || minor === 0) return wrongMethodOrVersion
  if (length !== 0 || expect !== null) return hasBody
  const [upgrade, ...others] = lines(rawHeaders, 'upgrade')
  const connection = tokens(lines(rawHeaders, 'connection'))
  if (upgrade?.toLowerCase() !== 'websocket' || others.length > 0 || !connection.includes('upgrade'))
    return notUpgrade
  const versions = lines(rawHeaders, 'sec-websocket-version')
  if (versions.length !== 1) return noVersion
  if (versions[0] !== '13') return unsupportedVersion
  if (NEGOTIATED_FIELDS.some((name) => isLongList(lines(rawHeaders, name).join()))) return longOffer
  const keys = lines(rawHeaders, 'sec-websocket-key')
  return keys.length === 1 && KEY.test(keys[0] ?? '') ? null : badKey
}

/** The Sec-WebSocket-Key of a valid handshake. */
function keyOf({ rawHeaders }: ClientRequest): string {
  return lines(rawHeaders, 'sec-websocket-key')[0] ?? ''
}

/** The value of Sec-WebSocket-Accept (RFC 6455, section 4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/**
 * The fault of the response to a handshake; null if both ends now speak WebSocket.
 *
 * @param sent the header lines of the handshake as sent
 * @param response status and header lines
 */
export function responseFault(
  sent: readonly string[],
  { statusCode, rawHeaders }: Pick<IncomingMessage, 'statusCode' | 'rawHeaders'>,
): string | null {
  if (statusCode !== 101) return `status ${statusCode}`
  const upgrade = lines(rawHeaders, 'upgrade')
  if (upgrade.length !== 1 || upgrade[0]?.toLowerCase() !== 'websocket') return 'Upgrade is not websocket'
  const connection = lines(rawHeaders, 'connection')
  if (isLongList(connection.join()) || !tokens(connection).includes('upgrade'))
    return 'Connection has no upgrade'
  const accept = lines(rawHeaders, 'sec-websocket-accept')
  const key = lines(sent, 'sec-websocket-key')[0] ?? ''
  if (accept.length !== 1 || accept[0] !== acceptOf(key)) return 'Sec-WebSocket-Accept does not match the key'
  return choiceFault(sent, rawHeaders)
}

/** The server selects at most one subprotocol, and only offered extensions. */
function choiceFault(sent: readonly string[], response: readonly string[]): string | null {
  if (NEGOTIATED_FIELDS.some((name) => isLongList(lines(response, name).join())))
    return 'the list of subprotocols or extensions is too long'
  const [protocol, ...others] = lines(response, 'sec-websocket-protocol')
  if (others.length > 0) return 'more than one subprotocol'
  if (protocol !== undefined && !elements(lines(sent, 'sec-websocket-protocol')).includes(protocol))
    return 'a subprotocol that was not offered'
  const offered = extensionNames(lines(sent, 'sec-websocket-extensions'))
  const chosen = extensionNames(lines(response, 'sec-websocket-extensions'))
  return chosen.every((name) => offered.includes(name)) ? null : 'an extension that was not offered'
}

/** `permessage-deflate; client_max_window_bits` → `permessage-deflate` */
function extensionNames(values: readonly string[]): string[] {
  return elements(values).map((each) => (each.split(';')[0] ?? '').trim().toLowerCase())
}

/** The header lines to the upstream: name, value, … Without Host, if that is the authority of the target. */
export function handshakeHeaders(
  exchange: Exchange,
  { config, proxies, identity }: Pick<Upstream, 'config' | 'proxies' | 'identity'>,
): string[] {
  const headers: string[] = []
  for (const { writable, pairs } of requestHeaders(exchange, config, proxies, identity)) {
    if (!writable) throw new Error('the request contains bytes that cannot be written')
    headers.push(...passingPairs(pairs))
  }
  const { host } = exchange.request
  if (config.passHost && host !== null) headers.push('host', host)
  headers.push('connection', 'Upgrade', 'upgrade', 'websocket')
  headers.push('sec-websocket-version', '13', 'sec-websocket-key', keyOf(exchange.request))
  return headers
}

/**
 * The head in the form of other responses. Throws on malformed fields.
 *
 * @param pairs name, value, …
 */
export function headOf(
  { statusCode, statusMessage }: IncomingMessage,
  pairs: readonly string[],
): ResponseHead {
  const fields = FieldTable.of(pairs)
  if (fields === null) throw new Error('a header field is malformed')
  return { status: statusCode ?? 0, phrase: statusMessage ?? '', fields }
}

/** The fields of a validated 101. Throws if they cannot be passed to the client. */
export function switchingFields(response: IncomingMessage, exchange: Exchange): ResponseFields {
  const head = headOf(response, passingPairs(response.rawHeaders))
  const fields = responseHeaders(head, true, null, isLimited(exchange))
  if (typeof fields === 'string') throw new Error(fields)
  const own = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${acceptOf(keyOf(exchange.request))}\r\n`
  const { length, hasDate } = fields
  return new ResponseFields(fields.text + own, { length, connection: 'Upgrade', hasDate }, null)
}

function passingPairs(pairs: readonly string[]): string[] {
  return pairs.filter((_, i) => passes(pairs[i - (i % 2)] ?? ''))
}

function passes(name: string): boolean {
  const folded = foldName(name)
  if (GATEWAY_FIELDS.includes(folded)) return false
  return !NEGOTIATED_FIELDS.includes(folded) || name.toLowerCase() === folded
}

/**
 * The values of all lines of a name, as received.
 *
 * @param wanted in lower case
 */
function lines(rawHeaders: readonly string[], wanted: string): string[] {
  const values: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === wanted.length && rawHeaders[i]?.toLowerCase() === wanted)
      values.push(rawHeaders[i + 1] ?? '')
  return values
}

function tokens(values: readonly string[]): string[] {
  return elements(values).map((each) => each.toLowerCase())
}

/** Elements of comma-separated lists, without empty ones (RFC 9110, section 5.6.1). */
function elements(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(',').map((each) => each.trim())).filter((each) => each !== '')
}

// Frames (RFC 6455, section 5.2).
