/**
 * The provider's keys (RFC 7517). Read when first needed, now and then after that, when a token names a key that is not
 * there, and when the named key does not verify the signature: providers change keys without notice, some under the
 * old name. How often a token can cause that is bounded, since anybody can write a token.
 *
 * Each reading but the first reads discovery at the same time, since the keys may have moved.
 */

import { errors, type LocalJWKSet } from 'jose'
import { type KeyFetch, readKeys } from './key-document.ts'
import { StaleWhileRevalidate } from './stale-while-revalidate.ts'

/** A key that the provider has withdrawn is used no longer than the second of these. */
const TIMES = { fresh: 10 * 60_000, stale: 60 * 60_000, backoff: 1_000 }
/** ms between readings for tokens that anybody may have written. */
const COOLDOWN = 10_000
/** ms between readings for tokens that came from the provider itself. */
const OWN_COOLDOWN = 1_000

/**
 * - `provider`: the token came over TLS from the provider's token endpoint
 * - `anybody`: it came with a request
 */
export type TokenSource = 'provider' | 'anybody'

/**
 * - `unknown`: no key has the name that the token has, or fits its algorithm
 * - `forged`: the key does not verify the signature
 *
 * Each has a cooldown of its own: bad signatures under known names don't delay the reading for a new name.
 */
type Misfit = 'unknown' | 'forged'

export interface KeySetOptions {
  /** The keys' address as discovered last. Rejects when that isn't known. */
  readonly uri: () => Promise<string>
  /** The same by a new reading of discovery, where one is allowed. Rejects when that fails. */
  readonly newUri: () => Promise<string>
  readonly fetch: KeyFetch
  /** Monotonic ms. */
  readonly clock: () => number
}

export class KeySet {
  readonly #options: KeySetOptions
  readonly #keys: StaleWhileRevalidate<LocalJWKSet>
  /** Monotonic ms: when a token that anybody may have written was last a reason to read. */
  readonly #lastForAnybody: Record<Misfit, number> = { unknown: -Infinity, forged: -Infinity }
  #first = true

  constructor(options: KeySetOptions) {
    this.#options = options
    this.#keys = new StaleWhileRevalidate(() => this.#read(), TIMES, options.clock)
  }

  /**
   * Calls `use` with the keys; again, with newer ones, as long as none of them fits. Rejects with ProviderTrouble when
   * the keys can't be had, and as `use` does.
   */
  async with<T>(source: TokenSource, use: (keys: LocalJWKSet) => Promise<T>): Promise<T> {
    const arrivedAt = this.#options.clock()
    // What is under way may have the key, whatever it was begun for: another token, or in the ordinary course.
    const ways = [() => this.#keys.settled(), (misfit: Misfit) => this.#readAfter(arrivedAt, source, misfit)]
    let keys = await this.#keys.get()
    for (;;) {
      try {
        return await use(keys)
      } catch (cause) {
        const misfit = misfitOf(cause)
        if (misfit === null) throw cause
        const newer = await this.#newer(keys, ways, misfit)
        if (newer === null) throw cause
        keys = newer
      }
    }
  }

  /** By the first of the ways that brings other keys; null: by none, and all are used up. */
  async #newer(
    keys: LocalJWKSet,
    ways: ((misfit: Misfit) => Promise<void>)[],
    misfit: Misfit,
  ): Promise<LocalJWKSet | null> {
    for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
      await way(misfit)
      const now = await this.#keys.get()
      if (now !== keys) return now
    }
    return null
  }

  /**
   * Sees to it that the keys were read after the token came, as far as that is allowed. Rejects when such a reading
   * failed: the key may be there and can't be seen, and nothing is said against the token.
   */
  async #readAfter(arrivedAt: number, source: TokenSource, misfit: Misfit): Promise<void> {
    if (this.#keys.beganAt < arrivedAt) {
      if (source === 'provider') await this.#readForProvider(arrivedAt)
      else await this.#readForAnybody(misfit)
    }
    // Of two that came, the other may have begun it.
    await this.#keys.settled()
    if (this.#keys.failure !== null) throw this.#keys.failure.cause
  }

  /** Once in a while; what was read in the ordinary course doesn't count, as keys may have been changed right after. */
  async #readForAnybody(misfit: Misfit): Promise<void> {
    const now = this.#options.clock()
    if (now - this.#lastForAnybody[misfit] < COOLDOWN) return
    const { beganAt } = this.#keys
    const reading = this.#keys.again()
    if (this.#keys.beganAt !== beganAt) this.#lastForAnybody[misfit] = now
    await reading
  }

  /**
   * The provider signed with a key that it must have published by now: worth a wait of a second at most, so that no
   * flood of made-up tokens, which use up the cooldown, makes an honest sign-in fail.
   */
  async #readForProvider(arrivedAt: number): Promise<void> {
    const since = this.#options.clock() - this.#keys.beganAt
    if (since < OWN_COOLDOWN) await new Promise((resolve) => setTimeout(resolve, OWN_COOLDOWN - since))
    if (this.#keys.beganAt < arrivedAt) await this.#keys.again()
  }

  /** Keys and discovery are read at once, for the time. Where discovery can't be had, the known address counts. */
  async #read(): Promise<LocalJWKSet> {
    const { uri, newUri, fetch } = this.#options
    const known = await uri()
    const isFirst = this.#first
    this.#first = false
    const [keys, now] = await Promise.all([
      readKeys(known, fetch).catch((cause: unknown) => ({ cause })),
      isFirst ? known : newUri().catch(() => known),
    ])
    if (now !== known) return readKeys(now, fetch)
    if ('cause' in keys) throw keys.cause
    return keys
  }
}

function misfitOf(cause: unknown): Misfit | null {
  if (cause instanceof errors.JWKSNoMatchingKey) return 'unknown'
  return cause instanceof errors.JWSSignatureVerificationFailed ? 'forged' : null
}
