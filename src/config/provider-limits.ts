/** The limits of requests to identity providers and other issuers. No setting changes them. */

/** The limits of a request. A limit that is left out has its default. */
export interface ProviderLimits {
  /** The time to connect, including TLS, in ms. */
  readonly connect?: number
  /** The time from the start of the request to the last byte of the response, in ms. */
  readonly total?: number
  /** The maximum size of a response body, in bytes. */
  readonly maxBody?: number
  /**
   * The maximum number of requests in flight. Further ones are rejected, because the provider is already
   * slow.
   */
  readonly maxRequests?: number
  readonly names?: NameLimits
}

/** The limits of name look-ups. A limit that is left out has its default. */
export interface NameLimits {
  /** The time of a whole look-up, in ms. */
  readonly total?: number
  /** The time until a query is repeated, in ms. The second query waits twice as long. */
  readonly timeout?: number
  /** The time that the result of one address family waits for the other, in ms. */
  readonly resolutionDelay?: number
  /** The maximum number of concurrent look-ups of different names. */
  readonly maxInFlight?: number
  /** The name servers, such as `127.0.0.1:53`; left out: those of the system. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  readonly resolvFile?: string
}
