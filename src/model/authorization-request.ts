/** The input of a decision. */

/** Field lines that identify a caller or a space, as received: one array element a line. */
export interface Credentials {
  readonly apiKey: readonly string[]
  readonly authorization: readonly string[]
  readonly cookie: readonly string[]
  readonly space: readonly string[]
}

/** All that a decision depends on. It holds no socket, so `explain` and a replay can ask for a decision too. */
export interface AuthorizationRequest {
  readonly method: string
  /** The raw request target (RFC 9112, section 3.2). */
  readonly target: string
  /** The value of Host; null where it is unknown (`explain`). */
  readonly host: string | null
  readonly credentials: Credentials
  /** Context that decides whether a session cookie counts. */
  readonly browser: BrowserContext
}

/** The request's information about the page that sent it. A session cookie counts only if it permits (CSRF). */
export interface BrowserContext {
  readonly method: string
  /** Name, value, name, value, … as received. */
  readonly rawHeaders: readonly string[]
  /** The request asks for another protocol (RFC 9110, section 7.8): a WebSocket. */
  readonly upgrade: boolean
}
