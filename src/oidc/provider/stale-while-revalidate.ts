/**
 * Caches one document of the provider, with single-flight fetches and a backoff after failures. A fresh
 * document is returned as it is. After that it is still returned while a fetch runs in the background, so
 * that a slow provider does not delay requests. A stale document is not returned: callers wait for the fetch.
 */

export interface RevalidationTimes {
  /** ms that a document is returned without a new fetch. */
  readonly fresh: number
  /** ms after which a document is no longer returned. */
  readonly stale: number
  /** ms between a failed fetch and the next. */
  readonly backoff: number
}

export class StaleWhileRevalidate<T> {
  readonly #read: () => Promise<T>
  readonly #times: RevalidationTimes
  readonly #clock: () => number
  #value: { readonly document: T; readonly at: number } | null = null
  /** The error of the last fetch; null if it succeeded. */
  failure: { readonly cause: unknown; readonly at: number } | null = null
  #pending: Promise<T> | null = null
  /** Monotonic ms of the start of the last fetch. */
  startedAt = -Infinity

  /** @param clock monotonic ms */
  constructor(read: () => Promise<T>, times: RevalidationTimes, clock: () => number) {
    this.#read = read
    this.#times = times
    this.#clock = clock
  }

  /** Waits for a pending fetch, if any; rejects as it does. */
  async settled(): Promise<void> {
    await this.#pending
  }

  /** Rejects if the document is stale and the fetch fails. */
  async get(): Promise<T> {
    const age = this.#value === null ? Infinity : this.#clock() - this.#value.at
    if (this.#value === null || age >= this.#times.stale) return this.revalidate()
    // A failure stays in `failure` for callers without a usable document.
    if (age >= this.#times.fresh) this.revalidate().catch(() => {})
    return this.#value.document
  }

  /**
   * Fetches the document, or joins the pending fetch. Within the backoff it rejects with the last failure.
   */
  revalidate(): Promise<T> {
    if (this.#pending !== null) return this.#pending
    const failure = this.failure
    if (failure !== null && this.#clock() - failure.at < this.#times.backoff)
      return Promise.reject(failure.cause)
    this.#pending = this.#readNow()
    return this.#pending
  }

  async #readNow(): Promise<T> {
    const at = this.#clock()
    this.startedAt = at
    try {
      const document = await this.#read()
      // The age counts from the start of the fetch: later changes may be missing.
      this.#value = { document, at }
      this.failure = null
      return document
    } catch (cause) {
      this.failure = { cause, at: this.#clock() }
      throw cause
    } finally {
      this.#pending = null
    }
  }
}
