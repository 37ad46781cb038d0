/**
 * The CORS policy of a route table (WHATWG Fetch, section 3.3, "CORS protocol"): whose pages may read
 * responses and send requests that a form cannot send. The header lines are serialized once, when the table
 * is compiled.
 */

import { OWN_CREDENTIAL_FIELDS } from './principal.ts'

/** The settings of `cors`, with every default. Names are in lower case. */
export interface CorsSettings {
  /** Serialized origins (`https://app.example`), or `*` alone. */
  readonly origins: readonly string[]
  /** Pages may read responses to requests with cookies. Never with `*`. */
  readonly credentials: boolean
  /** Request headers, those of {@link REQUEST_HEADERS} included. */
  readonly headers: readonly string[]
  /** Response headers that pages may read, those of {@link RESPONSE_HEADERS} included. */
  readonly expose: readonly string[]
  /** Seconds that a browser may keep the answer to a preflight. */
  readonly maxAge: number
}

/** The request headers that the gateway itself needs. */
export const REQUEST_HEADERS: readonly string[] = [
  'authorization',
  'content-type',
  'space',
  ...OWN_CREDENTIAL_FIELDS,
]
/** The response headers of the gateway itself, in refusals too. */
export const RESPONSE_HEADERS: readonly string[] = ['retry-after', 'www-authenticate', 'x-request-id']

/** The origin of sandboxed pages and of files: of all sites at once (HTML, section 7.1.1). */
const OPAQUE = 'null'
const ANY = '*'

/** What the answer to a preflight depends on, for caches. */
export const PREFLIGHT_VARY =
  'Vary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers\r\n'

export class CorsPolicy {
  /** Equal for policies that answer alike. */
  readonly key: string
  /** The origins as configured. */
  readonly origins: readonly string[]
  readonly #lines: ReadonlyMap<string, Lines>
  /** The lines for every origin; null: only the listed ones have lines. */
  readonly #anyLines: Lines | null
  readonly #credentials: boolean
  readonly #headers: ReadonlySet<string>
  /** Lines of every granted preflight. */
  readonly #preflightLines: string

  constructor(settings: CorsSettings) {
    const { origins, credentials, headers, maxAge } = settings
    this.key = corsKey(settings)
    this.origins = origins
    this.#lines = new Map(origins.map((origin) => [origin, linesFor(origin, settings)]))
    this.#anyLines = this.#lines.get(ANY) ?? null
    this.#credentials = credentials
    this.#headers = new Set(headers)
    const allowed = headers.length === 0 ? '' : `Access-Control-Allow-Headers: ${headers.join(', ')}\r\n`
    this.#preflightLines = `${allowed}Access-Control-Max-Age: ${maxAge}\r\n`
    Object.freeze(this)
  }

  /**
   * The lines `Access-Control-*` of a response, each with its CRLF; '': no page may read it.
   *
   * @param origin as received; null: the request has none. The comparison is exact: browsers send the
   *   serialized form.
   */
  responseLines(origin: string | null): string {
    return this.#linesFor(origin)?.response ?? ''
  }

  #linesFor(origin: string | null): Lines | null {
    if (origin === null || origin === OPAQUE) return null
    return this.#anyLines ?? this.#lines.get(origin) ?? null
  }

  /**
   * The lines of a granted preflight; '': the origin is not listed.
   *
   * @param methods at this path
   */
  preflightLines(origin: string, methods: readonly string[]): string {
    const lines = this.#linesFor(origin)
    if (lines === null) return ''
    return `${lines.origin}Access-Control-Allow-Methods: ${methods.join(', ')}\r\n${this.#preflightLines}`
  }

  lists(origin: string): boolean {
    return this.#linesFor(origin) !== null
  }

  allowsHeader(name: string): boolean {
    return this.#headers.has(name.toLowerCase())
  }

  /**
   * Whether pages of the origin act for the signed-in user: a session cookie counts from them as from our
   * own.
   */
  trusts(origin: string): boolean {
    return this.#credentials && origin !== OPAQUE && origin !== ANY && this.#lines.has(origin)
  }
}

/** Equal for settings that answer alike, in whatever order their lists are. */
export function corsKey({ origins, credentials, headers, expose, maxAge }: CorsSettings): string {
  return JSON.stringify([[...origins].sort(), credentials, [...headers].sort(), [...expose].sort(), maxAge])
}

/** Header lines, each with its CRLF. */
interface Lines {
  /** The lines that tell who may read. */
  readonly origin: string
  /** The same lines, with those that tell which headers may be read. */
  readonly response: string
}

function linesFor(origin: string, { credentials, expose }: CorsSettings): Lines {
  const allowed = `Access-Control-Allow-Origin: ${origin}\r\n`
  const withCookies = credentials ? 'Access-Control-Allow-Credentials: true\r\n' : ''
  const readable = expose.length === 0 ? '' : `Access-Control-Expose-Headers: ${expose.join(', ')}\r\n`
  return { origin: allowed + withCookies, response: allowed + withCookies + readable }
}
