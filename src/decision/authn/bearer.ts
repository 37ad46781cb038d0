/**
 * Authentication by `Authorization: Bearer` (RFC 6750, section 2.1).
 *
 * Cache of verified tokens. Key: `Bearer`, a space and the whole token, as nothing less identifies what was
 * verified. Other spellings of the line are not keys: one token would evict all others. The token alone is no
 * key either: a slice is a new string each time and must be hashed again. Value: the claims, never a verdict;
 * the times are checked at every use. The cache lives as long as one configuration. Invalid tokens are not
 * cached: one bad token has many spellings, which would evict good ones.
 */

import { performance } from 'node:perf_hooks'
import { Lookups } from '../../model/cache-lookups.ts'
import { hashOf } from '../../lib/text-hash.ts'
import { Refusal } from '../../model/errors.ts'
import type { Principal, VerifiedToken } from '../../model/principal.ts'
import { asciiBytes, detachedText } from '../../lib/heap-size.ts'
import { LruBudget, LruMap, ONE_OWNER } from '../../lib/lru-maps.ts'
import { timeRefusal, verifiedBytes } from './token-claims.ts'
import { mayNameIssuer, type TokenIssuers, verifyToken } from './gateway-token.ts'
import { KnownIssuers } from './unknown-issuer.ts'

const unreadable = new Refusal('token_invalid', 'The Authorization header must be "Bearer" and one token.')

/**
 * Verifies a token that the gateway did not issue. Null: the issuer is unknown. Rejects only on an internal
 * fault.
 *
 * @param requestId of the first request that has the token, for the log; null: none
 * @param resource the audience that the token must have; null: that of the issuer
 */
export type OtherIssuer = (
  token: string,
  requestId: string | null,
  resource: string | null,
) => Promise<VerifiedToken | Refusal | null>

interface BearerOptions extends TokenIssuers {
  /** Left out: only the gateway's own tokens are accepted. */
  readonly otherIssuer?: OtherIssuer | null

  /** ms since the epoch */
  readonly now: () => number
  /** The bytes of the cache. */
  readonly memory: number
  readonly lookups?: Lookups
}

interface CachedToken {
  readonly line: string
  readonly verified: VerifiedToken
  /**
   * Monotonic ms: the signature must be verified again from then on, as its key may be withdrawn; Infinity:
   * never.
   */
  readonly until: number
}

/** The characters that are hashed, the last of the token's signature. */
const HASHED = 16

/** Tokens with the same hash replace each other in the cache; the whole line is always compared. */
function hashOfEnd(line: string): number {
  return hashOf(line, Math.max(0, line.length - HASHED))
}

export class BearerTokens {
  readonly #options: BearerOptions
  readonly #issuers: TokenIssuers
  readonly #knownIssuers: KnownIssuers
  readonly #lookups: Lookups
  /** The verified tokens, by resource and the hash of the line's end. */
  readonly #verified: LruMap<CachedToken, number>
  /**
   * Verifications in flight at the other issuer, by resource and token: concurrent requests with one token
   * share one.
   */
  readonly #pending = new Map<string, Promise<VerifiedToken | Refusal | null>>()

  constructor(options: BearerOptions) {
    this.#options = options
    const issuers = [...options.tenants.values()].flatMap((tenant) => tenant.issuers ?? [])
    const reserved = new Set(issuers.map(({ issuer }) => issuer))
    this.#issuers = reserved.size === 0 ? options : { ...options, reserved }
    this.#knownIssuers = new KnownIssuers(options.tenants)
    this.#lookups = options.lookups ?? new Lookups()
    this.#verified = new LruMap(
      new LruBudget(options.memory, 1),
      (_owner, _hash, { line, verified }) => asciiBytes(line) + verifiedBytes(verified),
    )
  }

  /**
   * The caller of a token. Null if the line has another scheme, which is not for the gateway.
   *
   * @param requestId for the log
   * @param resource the audience that a token of another issuer must have; '': that of its issuer. It owns
   *   cached tokens: one that was accepted for a resource is accepted for no other.
   */
  authenticate(
    line: string,
    requestId: string | null = null,
    resource = ONE_OWNER,
  ): Principal | Refusal | Promise<Principal | Refusal> | null {
    const cached = this.#verified.get(resource, hashOfEnd(line))?.value
    if (cached?.line === line && (cached.until === Infinity || performance.now() < cached.until)) {
      this.#lookups.hits++
      return this.#admit(line, resource, cached.verified)
    }
    const token = readBearer(line)
    if (token === null || token instanceof Refusal) return token
    const key = `Bearer ${token}`
    return key === line
      ? this.#verify(key, token, requestId, resource)
      : this.authenticate(key, requestId, resource)
  }

  #verify(
    key: string,
    token: string,
    requestId: string | null,
    resource: string,
  ): Principal | Refusal | Promise<Principal | Refusal> {
    this.#lookups.misses++
    const ownResult = verifyToken(token, this.#issuers)
    if (!(ownResult instanceof Refusal)) return this.#cache(key, resource, ownResult)
    const { otherIssuer = null } = this.#options
    if (otherIssuer === null) return this.#explained(ownResult, token)
    const pending = this.#pending.get(resource + key)
    const verdict = pending ?? this.#verifyElsewhere(otherIssuer, key, token, requestId, resource)
    // The gateway's own verdict stands unless another issuer knows the token.
    return verdict.then((it) => {
      if (it === null) return this.#explained(ownResult, token)
      return it instanceof Refusal ? it : this.#admit(key, resource, it)
    })
  }

  #explained(refusal: Refusal, token: string): Refusal {
    return (mayNameIssuer(refusal) ? this.#knownIssuers.refusalOf(token) : null) ?? refusal
  }

  #admit(key: string, resource: string, verified: VerifiedToken): Principal | Refusal {
    const refusal = timeRefusal(verified, this.#options.now())
    if (refusal === null) return verified.principal
    this.#verified.delete(resource, hashOfEnd(key))
    return refusal.of(verified.principal)
  }

  #cache(key: string, resource: string, verified: VerifiedToken): Principal | Refusal {
    const refusal = timeRefusal(verified, this.#options.now())
    if (refusal !== null) return refusal.of(verified.principal)
    const line = detachedText(key)
    const until = performance.now() + (verified.cacheFor ?? Infinity)
    this.#verified.set(resource, hashOfEnd(line), { line, verified, until })
    return verified.principal
  }

  async #verifyElsewhere(
    issuer: OtherIssuer,
    key: string,
    token: string,
    requestId: string | null,
    resource: string,
  ): Promise<VerifiedToken | Refusal | null> {
    const verdict = issuer(token, requestId, resource === ONE_OWNER ? null : resource)
    this.#pending.set(resource + key, verdict)
    try {
      const verified = await verdict
      if (verified !== null && !(verified instanceof Refusal)) this.#cache(key, resource, verified)
      return verified
    } finally {
      this.#pending.delete(resource + key)
    }
  }
}

/** Scheme, spaces, parameters (RFC 9110, section 11.4). */
const CREDENTIALS = /^([\w!#$%&'*+.^`|~-]+)(?: +(.*))?$/s

/** Whether a value of Authorization is a bearer token, or malformed: no other credential counts then. */
export function isBearer(line: string): boolean {
  return readBearer(line) !== null
}

/** The token; null for another scheme; a Refusal for a malformed credential or an empty token. */
function readBearer(line: string): string | Refusal | null {
  if (line.startsWith('Bearer ') && line.charCodeAt(7) > SPACE) return line.slice(7)
  const match = CREDENTIALS.exec(line)
  if (match === null) return unreadable
  const [, scheme = '', token = ''] = match
  if (scheme.toLowerCase() !== 'bearer') return null
  return token === '' ? unreadable : token
}

const SPACE = 0x20
