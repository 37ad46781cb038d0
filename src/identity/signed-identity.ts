/**
 * Signed identity: the JWT (RFC 7519) that tells an upstream who calls, and that only the gateway can make.
 *
 * A JWT is signed once for equal claims, and sent again while half of its lifetime remains. Key of the cache:
 * the whole text of the claims, which is what the JWT says, so that no JWT is ever sent for another caller,
 * upstream or decision, and a decision on changed Seats finds none. The cache lives as long as one
 * configuration.
 */

import { randomBytes } from 'node:crypto'
import type { IdentityConfig } from '../config/config.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { asciiBytes, detachedText, textBytes } from '../lib/heap-size.ts'
import { LruBudget, LruMap } from '../lib/lru-maps.ts'
import { Lookups } from '../model/cache-lookups.ts'
import type { Decision } from '../model/decision.ts'
import { needsPermission } from '../model/route.ts'
import { SigningKeys } from './signing-keys.ts'

/** The parts of a decision that claims are made of. */
export type Identified = Pick<Decision, 'principal' | 'space' | 'permission' | 'seats'>

export interface SignedIdentityOptions {
  /** Bytes of the cache. */
  readonly memory: number
  readonly lookups?: Lookups
  /** ms since the epoch */
  readonly now?: () => number
}

interface Signed {
  readonly line: FieldLines
  /** ms since the epoch: the first and the last moment at which it is sent. */
  readonly from: number
  readonly until: number
}

/** The bytes of objects, numbers and the entry of the cache. */
const SIGNED_BYTES = 400
/** The bytes of `jti`: no two JWTs have the same (RFC 7519, section 4.1.7). */
const ID_BYTES = 16

export class SignedIdentity {
  /** The name of the header, in lower case. */
  readonly header: string
  /** The public keys (RFC 7517, section 5), as JSON. */
  readonly keySet: string
  readonly #issuer: string
  readonly #lifetime: number
  readonly #keys: SigningKeys
  /** The encoded header of each JWT. */
  readonly #protected: string
  readonly #signed: LruMap<Signed>
  readonly #lookups: Lookups
  readonly #now: () => number

  /** @throws Error if a key is not for the algorithm, or there is none */
  constructor(
    config: IdentityConfig,
    { memory, lookups = new Lookups(), now = Date.now }: SignedIdentityOptions,
  ) {
    this.#keys = new SigningKeys(config)
    this.header = config.header
    this.keySet = this.#keys.keySet
    this.#issuer = config.issuer
    this.#lifetime = config.lifetime
    this.#protected = this.#keys.headerOf('seatgate+jwt')
    this.#signed = new LruMap(
      new LruBudget(memory),
      (_, claims, { line }) => SIGNED_BYTES + textBytes(claims) + asciiBytes(line.text),
    )
    this.#lookups = lookups
    this.#now = now
  }

  /**
   * The field line with the JWT for an allowed request. Synchronous.
   *
   * @param audience the name of the upstream
   * @returns null: the route is public, and the header is absent
   */
  lineFor(audience: string, decision: Identified): FieldLines | null {
    const claims = claimsText(this.#issuer, audience, decision)
    if (claims === null || decision.principal === null) return null
    const { tenant } = decision.principal
    const now = this.#now()
    const cached = this.#signed.get(tenant, claims)?.value
    // The clock may have been set back.
    const isHit = cached !== undefined && now >= cached.from && now <= cached.until
    this.#lookups[isHit ? 'hits' : 'misses']++
    if (isHit) return cached.line
    const signed = this.#sign(claims, now)
    this.#signed.set(tenant, claims, signed)
    return signed.line
  }

  /**
   * The same for the answer to another proxy: name and value. The value is empty if there is none, so that
   * the proxy overwrites the client's own header of that name.
   *
   * @param audience null: the request has no upstream
   */
  fieldFor(audience: string | null, decision: Identified): readonly string[] {
    const line = audience === null ? null : this.lineFor(audience, decision)
    return line?.pairs ?? [this.header, '']
  }

  #sign(claims: string, now: number): Signed {
    const issuedAt = Math.floor(now / 1000)
    const expiresAt = Math.floor((now + this.#lifetime) / 1000)
    const id = randomBytes(ID_BYTES).toString('base64url')
    // The claims are a JSON object with members.
    const payload = `${claims.slice(0, -1)},"iat":${issuedAt},"exp":${expiresAt},"jti":"${id}"}`
    const token = this.#keys.sign(this.#protected, payload)
    const line = new FieldLines(detachedText(`${this.header}: ${token}\r\n`), null)
    return { line, from: now, until: expiresAt * 1000 - this.#lifetime / 2 }
  }
}

/**
 * The claims but for the times and the id, as JSON: what one decision says about its caller. Equal texts mean
 * that the decisions say the same of the same caller for the same upstream, and no others have equal texts.
 *
 * @param audience the name of the upstream
 * @returns null for a public route, which tells nothing of its caller
 */
function claimsText(issuer: string, audience: string, decision: Identified): string | null {
  const { principal, space, permission, seats } = decision
  if (principal === null || permission === null || permission === 'public') return null
  const caller = {
    iss: issuer,
    aud: audience,
    sub: principal.user,
    // Left out if there is none.
    email: principal.email ?? undefined,
    tenant: principal.tenant,
    auth: principal.method,
  }
  // An `authenticated` route needs no space, and the one that the request names is not verified.
  if (space === null || !needsPermission(permission)) return JSON.stringify(caller)
  const names = seats.filter(({ verdict }) => verdict === 'grants').map(({ name }) => name)
  const shownNames = firstOf(names)
  return JSON.stringify({ ...caller, space, permission, seats: shownNames, seats_count: names.length })
}

/** Bytes of names as JSON: servers take 8 KiB of header section. A name has 1.5 KiB at most. */
const MOST_NAMES = 2048

/** The first that granted, as many as there is room for. */
function firstOf(names: readonly string[]): readonly string[] {
  if (names.length === 1) return names
  let bytes = 0
  const end = names.findIndex((name) => {
    bytes += Buffer.byteLength(JSON.stringify(name)) + 1
    return bytes > MOST_NAMES
  })
  return end < 0 ? names : names.slice(0, end)
}
