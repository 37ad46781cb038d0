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
  #lastForAnybody = -Infinity

  constructor(options: KeySetOptions) {
    this.#options = options
    this.#keys = new Kept(() => readKeys(options), TIMES, options.clock)
  }

  /**
   * Calls `use` with the keys; again, with newer ones, as long as it finds none that fits. Rejects with ProviderTrouble
   * when the keys can't be had, and as `use` does.
   */
  async with<T>(source: TokenSource, use: (keys: LocalJWKSet) => Promise<T>): Promise<T> {
    const arrivedAt = this.#options.clock()
    // What is under way may have the key, whatever it was begun for: another token, or in the ordinary course.
    const ways = [() => this.#keys.settled(), () => this.#readAfter(arrivedAt, source)]
    let keys = await this.#keys.get()
    for (;;) {
      try {
        return await use(keys)
      } catch (cause) {
        if (!(cause instanceof errors.JWKSNoMatchingKey)) throw cause
        const newer = await this.#newer(keys, ways)
        if (newer === null) throw cause
        keys = newer
      }
    }
  }

  /** By the first of the ways that brings other keys; null: by none, and all are used up. */
  async #newer(keys: LocalJWKSet, ways: (() => Promise<void>)[]): Promise<LocalJWKSet | null> {
    for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
      await way()
      const now = await this.#keys.get()
      if (now !== keys) return now
    }
    return null
  }

  /**
   * Sees to it that the keys were read after the token came, as far as that is allowed. Rejects when such a reading
   * failed: the key may be there and can't be seen, and nothing is said against the token.
   */
  async #readAfter(arrivedAt: number, source: TokenSource): Promise<void> {
    if (this.#keys.beganAt < arrivedAt) {
      if (source === 'provider') await this.#readForProvider(arrivedAt)
      else await this.#readForAnybody()
    }
    // Of two that came, the other may have begun it.
    await this.#keys.settled()
    if (this.#keys.failure !== null) throw this.#keys.failure.cause
  }

  /** Once in a while; what was read in the ordinary course doesn't count, as keys may have been changed right after. */
  async #readForAnybody(): Promise<void> {
    const now = this.#options.clock()
    if (now - this.#lastForAnybody < COOLDOWN) return
    const { beganAt } = this.#keys
    const reading = this.#keys.again()
    if (this.#keys.beganAt !== beganAt) this.#lastForAnybody = now
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
