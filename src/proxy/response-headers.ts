/** The headers that go back to the client, and the trailers. */

import { FieldLine } from '../http/wire/field-line.ts'
import { isLongList, joinValues, MAX_LIST_ELEMENTS } from '../http/wire/fields.ts'
import { ResponseFields } from '../http/wire/response-fields.ts'
import { maySet } from './cookies.ts'
import { connectionNames, foldName, HeaderNames } from './header-names.ts'
import type { ResponseHead } from '../http/client/upstream-request.ts'

type Treatment =
  'pass' | 'drop' | 'connection' | 'content-length' | 'set-cookie' | 'trailer' | 'transfer-encoding'

/**
 * Meant for one connection only (RFC 9110, section 7.6.1). Framing towards the client is the response's, and the id of the
 * request is the gateway's.
 */
const DROPPED = [
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'upgrade',
  'x-request-id',
]
const BY_NAME = ['connection', 'content-length', 'set-cookie', 'trailer', 'transfer-encoding'] as const
/** Nothing is done to them; known beforehand only because they are frequent. */
const USUAL = ['cache-control', 'content-encoding', 'content-type', 'date', 'etag', 'last-modified', 'vary']

const special = new Map<string, Treatment>()
for (const name of DROPPED) special.set(name, 'drop')
for (const name of BY_NAME) special.set(name, name)

const responseNames: HeaderNames<Treatment> = new HeaderNames(
  [...DROPPED, ...BY_NAME, ...USUAL],
  (folded, exact) => {
    // The gateway alone speaks in this name.
    if (folded === 'x-seatgate' || folded.startsWith('x-seatgate-')) return 'drop'
    return exact ? (special.get(folded) ?? 'pass') : 'pass'
  },
)

/** Node's clients drop what lies beyond this many fields silently; so nobody may be given more. */
const MAX_FIELDS = 2000

/**
 * The fields to be written, but for the id of the request; or what is wrong in words.
 *
 * @param chunks may be what the client is given, where there is a body
 */
export function responseHeaders(head: ResponseHead, chunks: boolean): ResponseFields | string {
  const lines = passing(head, chunks)
  return typeof lines === 'string' ? lines : new ResponseFields(lines)
}

/**
 * The lines that pass, or what is wrong in words. Order, duplicates and bytes (as latin1) are kept.
 *
 * @param chunks as of `responseHeaders`
 */
export function passing({ status, lines }: ResponseHead, chunks: boolean): FieldLine[] | string {
  if (lines.length > MAX_FIELDS) return `more than ${MAX_FIELDS} header fields`
  let headers: FieldLine[] = []
  let named: Set<string> | null = null
  let connection: string | null = null
  let trailer = ''
  let sized = false
  let chunked = false
  for (const line of lines) {
    const { name, value } = line
    switch (responseNames.treatment(name)) {
      case 'pass':
        headers.push(line)
        break
      case 'set-cookie':
        if (maySet(value)) headers.push(line)
        break
      case 'content-length':
        sized = true
        // RFC 9110, section 8.6.
        if (status !== 204) headers.push(line)
        break
      case 'transfer-encoding':
        // Any other coding is still on the bytes that we get, and nobody would tell the client.
        if (value.toLowerCase() !== 'chunked') return `Transfer-Encoding: ${value}`
        // Twice is a list of two (RFC 9110, section 5.3): chunks in chunks.
        if (chunked) return 'two of Transfer-Encoding'
        chunked = true
        break
      case 'connection':
        connection = joinValues(connection, value)
        if (isLongList(connection)) return `more than ${MAX_LIST_ELEMENTS} elements of Connection`
        named = connectionNames(value, named)
        break
      case 'trailer':
        trailer = trailer === '' ? value : `${trailer}, ${value}`
        break
    }
  }
  if (named !== null) headers = withoutNamed(headers, named)
  const hasBody = status !== 204 && status !== 304
  if (trailer !== '' && !sized && chunks && hasBody) headers.push(new FieldLine('trailer', trailer))
  return headers
}

/** But for the length, whatever Connection says of it: it frames the message. */
function withoutNamed(lines: readonly FieldLine[], named: ReadonlySet<string>): FieldLine[] {
  return lines.filter(({ name }) => {
    const folded = foldName(name)
    return !named.has(folded) || folded === 'content-length'
  })
}

/** For an interim answer (1xx): it has no body, so nothing about one. */
export function interimHeaders({ lines }: ResponseHead): ResponseFields {
  return new ResponseFields(lines.filter(({ name }) => responseNames.treatment(name) === 'pass'))
}

/** Fields that mean something before the body only (RFC 9110, section 6.5.1). */
const NOT_TRAILERS = new Set([
  'age',
  'authorization',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'expires',
  'host',
  'location',
  'retry-after',
  'set-cookie',
  'vary',
  'www-authenticate',
])

const NO_TRAILERS: readonly string[] = Object.freeze([])

/** Name, value, … of those that may pass. Throws when there are too many. */
export function responseTrailers(raw: readonly string[]): readonly string[] {
  if (raw.length > MAX_FIELDS * 2) throw new Error(`more than ${MAX_FIELDS} trailer fields`)
  if (raw.length === 0) return NO_TRAILERS
  const trailers: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (responseNames.treatment(name) !== 'pass' || NOT_TRAILERS.has(name.toLowerCase())) continue
    trailers.push(name, raw[i + 1] ?? '')
  }
  return trailers
}

/** A reason phrase that can be written; null: the usual one for the status. */
export function reasonPhrase(text: string): string | null {
  return /^[\t -~]+$/.test(text) ? text : null
}
