/** The header and trailer fields of a forwarded response. */

import { FieldLine } from '../http/wire/field-line.ts'
import { isLongList, joinValues, MAX_LIST_ELEMENTS } from '../http/wire/fields.ts'
import { ResponseFields } from '../http/wire/response-fields.ts'
import { maySet } from './reserved-cookies.ts'
import { connectionNames, foldName, HeaderRules } from './header-rules.ts'
import type { ResponseHead } from '../http/client/upstream-request.ts'

type Treatment =
  'pass' | 'drop' | 'connection' | 'content-length' | 'set-cookie' | 'trailer' | 'transfer-encoding'

/**
 * Hop-by-hop fields (RFC 9110, section 7.6.1), and the request id, which is the gateway's. The response to the client has
 * framing of its own.
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
/** They pass unchanged; listed only because they are frequent. */
const USUAL = ['cache-control', 'content-encoding', 'content-type', 'date', 'etag', 'last-modified', 'vary']

const special = new Map<string, Treatment>()
for (const name of DROPPED) special.set(name, 'drop')
for (const name of BY_NAME) special.set(name, name)

const responseHeaderRules: HeaderRules<Treatment> = new HeaderRules(
  [...DROPPED, ...BY_NAME, ...USUAL],
  (folded, exact) => {
    // Reserved for the gateway.
    if (folded === 'x-seatgate' || folded.startsWith('x-seatgate-')) return 'drop'
    return exact ? (special.get(folded) ?? 'pass') : 'pass'
  },
)

/** Clients built on Node.js silently drop further fields, so a response with more is refused. */
const MAX_FIELDS = 2000

/**
 * The fields to write, without the request id.
 *
 * @param chunks the client accepts a chunked body
 * @returns a string: the fault of the response
 */
export function responseHeaders(head: ResponseHead, chunks: boolean): ResponseFields | string {
  const lines = passing(head, chunks)
  return typeof lines === 'string' ? lines : new ResponseFields(lines)
}

/**
 * The lines that pass. Their order, duplicates and bytes (as latin1) stay.
 *
 * @param chunks as for `responseHeaders`
 * @returns a string: the fault of the response
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
    switch (responseHeaderRules.treatment(name)) {
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
        // The parser does not decode any other coding, and the client would not learn of it.
        if (value.toLowerCase() !== 'chunked') return `Transfer-Encoding: ${value}`
        // A repeated line is a list of two codings (RFC 9110, section 5.3): chunks within chunks.
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

/** Content-Length stays even if Connection names it, because it frames the message. */
function withoutNamed(lines: readonly FieldLine[], named: ReadonlySet<string>): FieldLine[] {
  return lines.filter(({ name }) => {
    const folded = foldName(name)
    return !named.has(folded) || folded === 'content-length'
  })
}

/** The fields of an interim response (1xx), which has no body and no fields about one. */
export function interimHeaders({ lines }: ResponseHead): ResponseFields {
  return new ResponseFields(lines.filter(({ name }) => responseHeaderRules.treatment(name) === 'pass'))
}

/** Fields that are not allowed in trailers (RFC 9110, section 6.5.1). */
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

/** The trailer fields that pass: name, value, … Throws when there are too many. */
export function responseTrailers(raw: readonly string[]): readonly string[] {
  if (raw.length > MAX_FIELDS * 2) throw new Error(`more than ${MAX_FIELDS} trailer fields`)
  if (raw.length === 0) return NO_TRAILERS
  const trailers: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (responseHeaderRules.treatment(name) !== 'pass' || NOT_TRAILERS.has(name.toLowerCase())) continue
    trailers.push(name, raw[i + 1] ?? '')
  }
  return trailers
}

/** The reason phrase if it can be written; null for the usual one of the status. */
export function reasonPhrase(text: string): string | null {
  return /^[\t -~]+$/.test(text) ? text : null
}
