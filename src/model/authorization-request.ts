/** The input of a decision. */

import type { McpCall } from './mcp.ts'

/** Field lines that identify a caller or a space, as received: one array element a line. */
export interface Credentials {
  readonly apiKey: readonly string[]
  readonly authorization: readonly string[]
  readonly cookie: readonly string[]
  readonly space: readonly string[]
}

/** The credentials of a request that has none. */
export const NO_CREDENTIALS: Credentials = Object.freeze({
  apiKey: [],
  authorization: [],
  cookie: [],
  space: [],
})

/**
 * All that a decision depends on. It holds no socket, so `explain` and a replay can ask for a decision too.
 */
export interface AuthorizationRequest {
  readonly method: string
  /** The raw request target (RFC 9112, section 3.2). */
  readonly target: string
  /** The authority of the request, from Host or `:authority`; null: it has none (HTTP/1.0). */
  readonly host: string | null
  readonly credentials: Credentials
  /** Other parts of the request, which few decisions need. Left out: the request has none. */
  readonly fields?: RequestFields
  /** Context that decides whether a session cookie counts. */
  readonly browser: BrowserContext
}

export interface RequestFields {
  /**
   * The values of the lines of a field. `other spelling`: a line has a name that a lenient reader takes for
   * it, such as `X_Org`.
   *
   * @param name lower case; letters, digits and `-`
   */
  linesOf(name: string): readonly string[] | 'other spelling'
  /** What a request to an MCP server calls; left out: its message is not read, or is none. */
  readonly call?: McpCall | undefined
}

/**
 * The request's information about the page that sent it. A session cookie counts only if it permits (CSRF).
 */
export interface BrowserContext {
  readonly method: string
  /** Name, value, name, value, … as received. */
  readonly rawHeaders: readonly string[]
  /** The request asks for another protocol (RFC 9110, section 7.8): a WebSocket. */
  readonly upgrade: boolean
  /** The id in the response and the access log; left out: no client sent the request. */
  readonly requestId?: string
  /** The values of Origin, one array element a line; left out: none. */
  readonly origins?: readonly string[]
  /** The preflight that the request is; null or left out: it is none. */
  readonly preflight?: Preflight | null
}

/**
 * A CORS preflight (WHATWG Fetch, section 4.9): OPTIONS with Origin and Access-Control-Request-Method. Field
 * values as received: one array element a line.
 */
export interface Preflight {
  readonly origins: readonly string[]
  /** Access-Control-Request-Method. */
  readonly methods: readonly string[]
  /** Access-Control-Request-Headers: lists of names. */
  readonly headers: readonly string[]
}
