/** The input of a decision. */

import type { MayComeAgain } from '../lib/made-of.ts'

/** Header lines that name a caller or a space, as they came: one array element a line. */
export interface Credentials extends MayComeAgain {
  readonly apiKey: readonly string[]
  readonly authorization: readonly string[]
  readonly cookie: readonly string[]
  readonly space: readonly string[]
}

/** A question to the decision: all it may depend on, so that `explain` and replay can ask it without a socket. */
export interface AuthorizationRequest {
  readonly method: string
  /** The raw request target (RFC 9112, section 3.2). */
  readonly target: string
  /** The value of Host; null when unknown (`explain`). */
  readonly host: string | null
  readonly credentials: Credentials
  /** What the worth of a cookie depends on. */
  readonly browser: BrowserContext
}

/** What a request tells of the page that made it. A cookie counts only where that allows it. */
export interface BrowserContext {
  readonly method: string
  /** Name, value, name, value, … as received. */
  readonly rawHeaders: readonly string[]
  /** It asks for another protocol: a WebSocket. */
  readonly upgrade: boolean
}
