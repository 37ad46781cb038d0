/**
 * The provider's JSON Web Key Set (RFC 7517). It is fetched at first use, periodically after that, when a
 * token names an unknown key, and when the named key does not verify the signature: providers rotate keys
 * without notice, some under the same `kid`. Cooldowns bound how often tokens cause a fetch, because anyone
 * can forge a token.
 *
 * Each fetch but the first also revalidates discovery, because `jwks_uri` may have changed.
 */

import { createLocalJWKSet, errors, type JWK, type LocalJWKSet } from 'jose'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { ProviderError } from './provider-errors.ts'
import type { ProviderHttp } from './http.ts'
import { type RevalidationTimes, StaleWhileRevalidate } from './stale-while-revalidate.ts'

/** A withdrawn key is used for at most `stale` ms. */
const TIMES = { fresh: 10 * 60_000, stale: 60 * 60_000, backoff: 1_000 }
/** ms between fetches caused by tokens from requests. */
const COOLDOWN = 10_000
/** ms between fetches caused by tokens from the token endpoint. */
const PROVIDER_COOLDOWN = 1_000

/**
 * - `provider`: the token is from the provider's token endpoint, over TLS
 * - `request`: the token is from a request
 */
export type TokenSource = 'provider' | 'request'

/**
 * - `unknown`: no key matches the token's `kid` and algorithm
 * - `signature`: the key does not verify the signature
 *
 * Each has a separate cooldown: bad signatures under a known `kid` don't delay the fetch for a new `kid`.
 */
type KeyMismatch = 'unknown' | 'signature'

interface KeySetOptions {
  /** The last discovered `jwks_uri`. Rejects if discovery fails. */
  readonly uri: () => Promise<string>
  /** The `jwks_uri` after revalidation of discovery. Rejects if that fails. */
  readonly newUri: () => Promise<string>
  readonly fetch: ProviderHttp['fetch']
  /** Monotonic ms. */
  readonly clock: () => number
  /** The times of the keys; left out: those for the provider of a sign-in. */
  readonly times?: RevalidationTimes
}

export class KeySet {
  readonly #options: KeySetOptions
  readonly #keys: StaleWhileRevalidate<LocalJWKSet>
  /** Monotonic ms of the last fetch caused by a token from a request. */
  readonly #lastForRequest: Record<KeyMismatch, number> = { unknown: -Infinity, signature: -Infinity }
  #first = true

  constructor(options: KeySetOptions) {
    this.#options = options
    this.#keys = new StaleWhileRevalidate(() => this.#read(), options.times ?? TIMES, options.clock)
  }

  /**
   * Calls `use` with the keys, and again with newer keys while none of them matches. Rejects with
   * ProviderError when the keys are unavailable, otherwise as `use` does.
   */
  async with<T>(source: TokenSource, use: (keys: LocalJWKSet) => Promise<T>): Promise<T> {
    const arrivedAt = this.#options.clock()
    // First a pending fetch, which may already bring the key, then a new one.
    const attempts = [
      () => this.#keys.settled(),
      (mismatch: KeyMismatch) => this.#readAfter(arrivedAt, source, mismatch),
    ]
    let keys = await this.#keys.get()
    for (;;) {
      try {
        return await use(keys)
      } catch (cause) {
        const mismatch = mismatchOf(cause)
        const tried = keys
        while (mismatch !== null && keys === tried && attempts.length > 0) {
          await attempts.shift()?.(mismatch)
          keys = await this.#keys.get()
        }
        if (keys === tried) throw cause
      }
    }
  }

  /**
   * Ensures that the keys are newer than the token's arrival, as far as the cooldown allows. Rejects if
   * that fetch failed, because the token may be valid.
   */
  async #readAfter(arrivedAt: number, source: TokenSource, mismatch: KeyMismatch): Promise<void> {
    if (this.#keys.startedAt < arrivedAt) {
      if (source === 'provider') await this.#readForProvider(arrivedAt)
      else await this.#readForRequest(mismatch)
    }
    // A concurrent token may have started the fetch.
    await this.#keys.settled()
    if (this.#keys.failure !== null) throw this.#keys.failure.cause
  }

  /** At most once a cooldown. Periodic fetches don't count: the keys may have changed right after one. */
  async #readForRequest(mismatch: KeyMismatch): Promise<void> {
    const now = this.#options.clock()
    if (now - this.#lastForRequest[mismatch] < COOLDOWN) return
    const { startedAt } = this.#keys
    const fetched = this.#keys.revalidate()
    if (this.#keys.startedAt !== startedAt) this.#lastForRequest[mismatch] = now
    await fetched
  }

  /**
   * The provider has published the key that it just signed with. A wait of at most PROVIDER_COOLDOWN is
   * acceptable, so that a flood of forged tokens, which uses up the cooldown for requests, does not make
   * sign-ins fail.
   */
  async #readForProvider(arrivedAt: number): Promise<void> {
    const since = this.#options.clock() - this.#keys.startedAt
    if (since < PROVIDER_COOLDOWN)
      await new Promise((resolve) => setTimeout(resolve, PROVIDER_COOLDOWN - since))
    if (this.#keys.startedAt < arrivedAt) await this.#keys.revalidate()
  }

  /** Fetches keys and discovery in parallel. When discovery fails, the known `jwks_uri` is used. */
  async #read(): Promise<LocalJWKSet> {
    const { uri, newUri, fetch } = this.#options
    const former = await uri()
    const isFirst = this.#first
    this.#first = false
    const [keys, now] = await Promise.all([
      readKeys(former, fetch).catch((cause: unknown) => ({ cause })),
      isFirst ? former : newUri().catch(() => former),
    ])
    if (now !== former) return readKeys(now, fetch)
    if ('cause' in keys) throw keys.cause
    return keys
  }
}

function mismatchOf(cause: unknown): KeyMismatch | null {
  if (cause instanceof errors.JWKSNoMatchingKey) return 'unknown'
  return cause instanceof errors.JWSSignatureVerificationFailed ? 'signature' : null
}

const MAX_KEYS = 100

/** RFC 7517, section 5. Rejects with ProviderError. */
export async function readKeys(uri: string, fetch: ProviderHttp['fetch']): Promise<LocalJWKSet> {
  const response = await fetch(uri, { method: 'GET', headers: { accept: 'application/json' } })
  if (response.status !== 200)
    throw new ProviderError(`the provider answered the request for its keys with ${response.status}`)
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value) || !Array.isArray(parsed.value.keys))
    throw new ProviderError("the provider's keys are not a JSON Web Key Set")
  // Symmetric keys are ignored.
  const keys = parsed.value.keys.filter((key) => isJsonObject(key) && key.kty !== 'oct')
  return createLocalJWKSet({ keys: keys.slice(0, MAX_KEYS) as JWK[] })
}
