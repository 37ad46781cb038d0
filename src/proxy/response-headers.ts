/** The header and trailer fields of a forwarded response. */

import type { ResponseHead } from '../http/client/upstream-request.ts'
import { fieldName } from '../http/wire/field-name.ts'
import { FieldTable } from '../http/wire/field-table.ts'
import { isLongList, joinValues, MAX_LIST_ELEMENTS } from '../http/wire/fields.ts'
import { ResponseFields } from '../http/wire/response-fields.ts'
import { connectionNames, foldName, HeaderRules, type Treatments } from './header-rules.ts'
import { maySet } from './reserved-cookies.ts'

type Treatment = 'pass' | 'drop' | 'vary' | (typeof BY_NAME)[number]

/**
 * Hop-by-hop fields (RFC 9110, section 7.6.1), and the request id, which is the gateway's. The response to
 * the client has framing of its own.
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
const BY_NAME = [
  'connection',
  'content-length',
  'date',
  'set-cookie',
  'trailer',
  'transfer-encoding',
] as const

const names = new Map(
  [...DROPPED.map((name) => [name, 'drop'] as const), ...BY_NAME.map((name) => [name, name] as const)].map(
    ([name, exact]) => [name, { exact, other: 'pass' } as const],
  ),
)

/** `x-seatgate` is reserved for the gateway. */
const RESERVED = { prefix: 'x-seatgate', exact: 'drop', other: 'drop' } as const
const responseHeaderRules = new HeaderRules<Treatment>(names, [RESERVED], 'pass')

/** The rules for tables with `cors`: the gateway alone tells which pages may read a response. */
const withCors = new Map<string, Treatments<Treatment>>([
  ...names,
  ['vary', { exact: 'vary', other: 'pass' }],
])
const CORS = { prefix: 'access-control', exact: 'drop', other: 'drop' } as const
const corsHeaderRules = new HeaderRules<Treatment>(withCors, [RESERVED, CORS], 'pass')

/** The rule for routes with rate limits: `RateLimit` and `RateLimit-Policy` are the gateway's. */
const LIMITED = { prefix: 'ratelimit', exact: 'drop', other: 'drop' } as const
const limitedHeaderRules = new HeaderRules<Treatment>(names, [RESERVED, LIMITED], 'pass')
const limitedCorsRules = new HeaderRules<Treatment>(withCors, [RESERVED, CORS, LIMITED], 'pass')

function rulesFor(cors: string | null, limited: boolean): HeaderRules<Treatment> {
  if (limited) return cors === null ? limitedHeaderRules : limitedCorsRules
  return cors === null ? responseHeaderRules : corsHeaderRules
}

/** Clients built on Node.js silently drop further fields, so a response with more is refused. */
const MAX_FIELDS = 2000

/**
 * The fields to write, without the request id. Their order, duplicates and bytes (as latin1) stay.
 *
 * @param chunks the client accepts a chunked body
 * @param cors lines `Access-Control-*` in place of the upstream's; null if the upstream's pass
 * @param limited the route has rate limits, whose fields stand in place of the upstream's
 * @param named see {@link namedFields}
 * @returns a string: the fault of the response
 */
export function responseHeaders(
  { status, fields }: ResponseHead,
  chunks: boolean,
  cors: string | null = null,
  limited = false,
  named: ReadonlySet<string> | null = namedFields(fields),
): ResponseFields | string {
  if (fields.count > MAX_FIELDS) return `more than ${MAX_FIELDS} header fields`
  let text = ''
  /** The fields from this one on are not in `text` yet, and pass. */
  let first = 0
  let trailer: string | null = null
  let vary: string | null = null
  const rules = rulesFor(cors, limited)
  let length: string | null = null
  let hasDate = false
  let sized = false
  let chunked = false
  for (let i = 0; i < fields.count; i++) {
    let passes = false
    switch (rules.treatment(fields, i)) {
      case 'pass':
        passes = true
        break
      case 'date':
        passes = true
        hasDate = true
        break
      case 'set-cookie':
        passes = maySet(fields.value(i))
        break
      case 'content-length':
        sized = true
        // RFC 9110, section 8.6.
        passes = status !== 204
        if (passes) length = fields.value(i)
        break
      case 'transfer-encoding':
        // The parser does not decode any other coding, and the client would not learn of it.
        if (fields.value(i).toLowerCase() !== 'chunked') return `Transfer-Encoding: ${fields.value(i)}`
        // A repeated line is a list of two codings (RFC 9110, section 5.3): chunks within chunks.
        if (chunked) return 'two of Transfer-Encoding'
        chunked = true
        break
      case 'vary':
        vary = joinValues(vary, fields.value(i))
        break
      case 'trailer':
        trailer = joinValues(trailer, fields.value(i))
    }
    // Content-Length stays even if Connection names it, because it frames the message.
    if (passes && (named === null || !named.has(foldName(fields.name(i))) || fields.is(i, CONTENT_LENGTH)))
      continue
    text += fields.lines(first, i)
    first = i + 1
  }
  text += fields.lines(first, fields.count)
  const hasBody = status !== 204 && status !== 304
  if (trailer !== null && !sized && chunks && hasBody) text += `trailer: ${trailer}\r\n`
  if (cors !== null) text += `${cors}Vary: ${withOrigin(vary)}\r\n`
  if (named?.has('date') === true) hasDate = false
  return new ResponseFields(text, { length, connection: null, hasDate }, null)
}

/** For caches: the response depends on Origin (WHATWG Fetch, "CORS protocol and HTTP caches"). */
function withOrigin(vary: string | null): string {
  if (vary === null) return 'Origin'
  const names = vary.split(',').map((name) => name.trim().toLowerCase())
  return names.includes('*') || names.includes('origin') ? vary : `${vary}, Origin`
}

const CONNECTION = fieldName('connection')
const CONTENT_LENGTH = fieldName('content-length')

/** The fields that Connection names, folded; null for none. Throws if the list is too long. */
export function namedFields(fields: FieldTable): ReadonlySet<string> | null {
  let combined: string | null = null
  let names: Set<string> | null = null
  for (const value of fields.values(CONNECTION)) {
    combined = joinValues(combined, value)
    if (isLongList(combined)) throw new Error(`more than ${MAX_LIST_ELEMENTS} elements of Connection`)
    names = connectionNames(value, names)
  }
  return names
}

/** The fields of an interim response (1xx), which has no body. Throws like `namedFields`. */
export function interimHeaders(
  { fields }: ResponseHead,
  cors: string | null = null,
  limited = false,
): ResponseFields {
  let text = ''
  const rules = rulesFor(cors, limited)
  const named = namedFields(fields)
  for (let i = 0; i < fields.count; i++) {
    const treatment = rules.treatment(fields, i)
    const passes = treatment === 'pass' || treatment === 'date' || treatment === 'vary'
    if (!passes || named?.has(foldName(fields.name(i))) === true) continue
    text += fields.lines(i, i + 1)
  }
  return new ResponseFields(text, { length: null, connection: null, hasDate: false }, null)
}

/** Fields that are not allowed in trailers (RFC 9110, section 6.5.1). */
const NOT_TRAILERS = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'host',
  'set-cookie',
  'www-authenticate',
])
/** Nor these, which control caches and what comes next. In gRPC they are metadata of the service. */
const CONTROL = new Set(['age', 'cache-control', 'date', 'expires', 'location', 'retry-after', 'vary'])

const NO_TRAILERS: readonly string[] = Object.freeze([])

/** What decides which trailer fields pass. */
interface TrailerRules {
  readonly cors: string | null
  readonly isLimited: boolean
  /** The response is one of gRPC to a client of gRPC, whose metadata may have the names of control fields. */
  readonly grpcResponse: boolean
}

/**
 * The trailer fields that pass: name, value, … Throws when there are too many.
 *
 * @param named see {@link namedFields}: by Connection of the head
 */
export function responseTrailers(
  raw: readonly string[],
  named: ReadonlySet<string> | null,
  { cors, isLimited, grpcResponse }: TrailerRules,
): readonly string[] {
  if (raw.length === 0) return NO_TRAILERS
  if (raw.length > MAX_FIELDS * 2) throw new Error(`more than ${MAX_FIELDS} trailer fields`)
  const fields = FieldTable.of(raw)
  if (fields === null) throw new Error('a malformed trailer field')
  const trailers: string[] = []
  const rules = rulesFor(cors, isLimited)
  for (let i = 0; i < fields.count; i++) {
    const name = fields.name(i)
    const plain = name.toLowerCase()
    const isControl = CONTROL.has(plain)
    if (isControl ? !grpcResponse : rules.treatment(fields, i) !== 'pass' || NOT_TRAILERS.has(plain)) continue
    if (named?.has(foldName(name)) === true) continue
    trailers.push(name, fields.value(i))
  }
  return trailers
}

/** The reason phrase if it can be written; null for the usual one of the status. */
export function reasonPhrase(text: string): string | null {
  return /^[\t -~]+$/.test(text) ? text : null
}
