/**
 * A document of the provider's that is read now and then: single-flight, cached, never asked for more often than it may
 * be. Used for discovery and keys.
 *
 * Cache: the document as last read. Key: none, one object a document. It is fresh for a while; then it goes on serving
 * while it is read again in the background, since waiting for a slow provider would stop requests that it need not
 * stop; when it is stale, nothing is answered without a new reading.
 */

export interface RevalidationTimes {
  /** ms that a reading serves without being looked at again. */
  readonly fresh: number
  /** ms that it serves at most. */
  readonly stale: number
  /** ms after a reading that failed before the next is tried. */
  readonly backoff: number
}

export class StaleWhileRevalidate<T> {
  readonly #read: () => Promise<T>
  readonly #times: RevalidationTimes
  readonly #clock: () => number
  #value: { readonly is: T; readonly at: number } | null = null
  #failure: { readonly cause: unknown; readonly at: number } | null = null
  #pending: Promise<T> | null = null
  #beganAt = -Infinity

  /** @param clock monotonic ms */
  constructor(read: () => Promise<T>, times: RevalidationTimes, clock: () => number) {
    this.#read = read
    this.#times = times
    this.#clock = clock
  }

  /** Monotonic ms: when the latest reading began. */
  get beganAt(): number {
    return this.#beganAt
  }

  /** Why the latest reading failed; null if it did not. */
  get failure(): { readonly cause: unknown } | null {
    return this.#failure
  }

  /** Resolves when no reading is under way, now or after the one that is; rejects as that one does. */
  async settled(): Promise<void> {
    await this.#pending
  }

  /** Rejects when it can't be had. */
  async get(): Promise<T> {
    const age = this.#value === null ? Infinity : this.#clock() - this.#value.at
    if (this.#value === null || age >= this.#times.stale) return this.again()
    // A failure is kept in #failure, and told to whoever has nothing else to go on.
    if (age >= this.#times.fresh) this.again().catch(() => {})
    return this.#value.is
  }

  /** Reads again, or joins those who do; within the backoff of a failure, fails as that did. */
  again(): Promise<T> {
    if (this.#pending !== null) return this.#pending
    const failure = this.#failure
    if (failure !== null && this.#clock() - failure.at < this.#times.backoff)
      return Promise.reject(failure.cause)
    this.#pending = this.#readNow()
    return this.#pending
  }

  async #readNow(): Promise<T> {
    const at = this.#clock()
    this.#beganAt = at
    try {
      const is = await this.#read()
      // Its age counts from the beginning: what changed while it was read may not be in it.
      this.#value = { is, at }
      this.#failure = null
      return is
    } catch (cause) {
      this.#failure = { cause, at: this.#clock() }
      throw cause
    } finally {
      this.#pending = null
    }
  }
}
