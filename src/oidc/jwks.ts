/**
 * The provider's keys (RFC 7517). Read when first needed, now and then after that, and when a token names a key that is
 * not there: providers change keys without notice. How often a token can cause that is bounded, since anybody can
 * write a token.
 */

import { createLocalJWKSet, errors, type JWK, type LocalJWKSet } from 'jose'
import { isJsonObject, parseJson } from '../json.ts'
import type { FetchOptions } from './http.ts'
import { Kept } from './kept.ts'
import { ProviderTrouble } from './trouble.ts'

/** A key that the provider has withdrawn is used no longer than the second of these. */
const TIMES = { fresh: 10 * 60_000, stale: 60 * 60_000, backoff: 1_000 }
/** ms between readings for tokens that anybody may have written. */
const COOLDOWN = 10_000
/** ms between readings for tokens that came from the provider itself. */
const OWN_COOLDOWN = 1_000
const MAX_KEYS = 100

/**
 * - `provider`: the token came over TLS from the provider's token endpoint
 * - `anybody`: it came with a request
 */
export type TokenSource = 'provider' | 'anybody'

export interface KeySetOptions {
  /** Where the keys are, as of now. Rejects when that isn't known. */
  readonly uri: () => Promise<string>
  readonly fetch: (url: string, options: FetchOptions) => Promise<Response>
  /** Monotonic ms. */
  readonly clock: () => number
}

export class KeySet {
  readonly #options: KeySetOptions
  readonly #keys: Kept<LocalJWKSet>
  /** Monotonic ms: when a token that anybody may have written was last a reason to read. */
  #readForAnybody = -Infinity

  constructor(options: KeySetOptions) {
    this.#options = options
    this.#keys = new Kept(() => readKeys(options), TIMES, options.clock)
  }

  /**
   * Calls `use` with the keys; once more, with newer ones, if it finds none that fits. Rejects with ProviderTrouble when
   * the keys can't be had, and as `use` does.
   */
  async with<T>(source: TokenSource, use: (keys: LocalJWKSet) => Promise<T>): Promise<T> {
    const arrivedAt = this.#options.clock()
    const keys = await this.#keys.get()
    try {
      return await use(keys)
    } catch (cause) {
      if (!(cause instanceof errors.JWKSNoMatchingKey)) throw cause
      await this.#readAfter(arrivedAt, source)
      const newer = await this.#keys.get()
      if (newer === keys) throw cause
      return use(newer)
    }
  }

  /**
   * Sees to it that the keys were read after the token came, as far as that is allowed. Rejects when such a reading
   * failed: the key may be there and can't be seen, and nothing is said against the token.
   */
  async #readAfter(arrivedAt: number, source: TokenSource): Promise<void> {
    // Another token's reading, or one in the ordinary course that `get` has begun, serves this one too.
    if (this.#keys.beganAt >= arrivedAt) await this.#keys.settled()
    else if (source === 'provider') await this.#readForProvider(arrivedAt)
    else if (this.#options.clock() - this.#readForAnybody >= COOLDOWN) {
      // What was read in the ordinary course doesn't count: keys may have been changed right after that.
      this.#readForAnybody = this.#options.clock()
      await this.#keys.again()
    }
    if (this.#keys.failure !== null) throw this.#keys.failure.cause
  }

  /**
   * The provider signed with a key that it must have published by now: worth a wait of a second at most, so that no
   * flood of made-up tokens, which use up the cooldown, makes an honest sign-in fail.
   */
  async #readForProvider(arrivedAt: number): Promise<void> {
    const since = this.#options.clock() - this.#keys.beganAt
    if (since < OWN_COOLDOWN) await new Promise((resolve) => setTimeout(resolve, OWN_COOLDOWN - since))
    if (this.#keys.beganAt < arrivedAt) await this.#keys.again()
    else await this.#keys.settled()
  }
}

async function readKeys({ uri, fetch }: KeySetOptions): Promise<LocalJWKSet> {
  const response = await fetch(await uri(), { method: 'GET', headers: { accept: 'application/json' } })
  if (response.status !== 200)
    throw new ProviderTrouble(`the provider's keys were answered with ${response.status}`)
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value) || !Array.isArray(parsed.value.keys))
    throw new ProviderTrouble("the provider's keys are no JSON Web Key Set")
  // A symmetric key has no business there, and verifies nothing here.
  const keys = parsed.value.keys.filter((key) => isJsonObject(key) && key.kty !== 'oct')
  return createLocalJWKSet({ keys: keys.slice(0, MAX_KEYS) as JWK[] })
}
