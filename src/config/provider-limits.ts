/** The limits of requests to identity providers and other issuers. No setting changes them. */

/** Left out: the default. */
export interface ProviderLimits {
  /** ms to connect, TLS included. */
  readonly connect?: number
  /** ms from the start of the request to the last byte of the response. */
  readonly total?: number
  /** Bytes of a response body. */
  readonly maxBody?: number
  /** Requests in flight. Further ones are rejected, because the provider is already slow. */
  readonly maxRequests?: number
  readonly names?: NameLimits
}

/** The limits of name look-ups. Left out: the default. */
export interface NameLimits {
  /** ms of a whole look-up. */
  readonly total?: number
  /** ms until a query is repeated; the second query waits twice as long. */
  readonly timeout?: number
  /** ms that one family's result waits for the other's. */
  readonly resolutionDelay?: number
  /** Concurrent look-ups of different names. */
  readonly maxInFlight?: number
  /** Name servers such as `127.0.0.1:53`; left out: the system's. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  readonly resolvFile?: string
}
