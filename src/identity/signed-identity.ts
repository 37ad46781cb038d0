/**
 * Signed identity: the JWT (RFC 7519) that tells an upstream who calls, and that only the gateway can make.
 *
 * A JWT is signed once for equal claims, and sent again while half of its lifetime remains. Key of the cache: the whole
 * text of the claims, which is what the JWT says, so that no JWT is ever sent for another caller, upstream or decision, and
 * a decision on changed Seats finds none. The cache lives as long as one configuration.
 */

import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import type { IdentityAlgorithm, IdentityConfig } from '../config/config.ts'
import { LruMap, MemoryBudget } from '../decision/seats/lru-maps.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { asciiBytes, detachedText, textBytes } from '../lib/heap-size.ts'
import { Lookups } from '../model/cache-lookups.ts'
import { claimsText, type Identified } from './identity-claims.ts'

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

/** Objects, numbers and the entry of the cache. */
const SIGNED_BYTES = 400
/** Bytes of `jti`: no two JWTs have the same (RFC 7519, section 4.1.7). */
const ID_BYTES = 16

interface PublicJwk {
  readonly kty: 'EC' | 'OKP'
  readonly crv: string
  readonly x: string
  readonly y?: string
  readonly kid: string
  readonly alg: IdentityAlgorithm
  readonly use: 'sig'
}

export class SignedIdentity {
  /** The name of the header, in lower case. */
  readonly header: string
  /** The public keys (RFC 7517, section 5), as JSON. */
  readonly keySet: string
  readonly #issuer: string
  readonly #lifetime: number
  readonly #key: SigningKey
  /** The encoded header of each JWT. */
  readonly #protected: string
  readonly #signed: LruMap<Signed>
  readonly #lookups: Lookups
  readonly #now: () => number

  /** Throws if a key is not of the algorithm, or there is none. */
  constructor(
    config: IdentityConfig,
    { memory, lookups = new Lookups(), now = Date.now }: SignedIdentityOptions,
  ) {
    const keys = config.keys.map((pem) => new SigningKey(pem, config.algorithm))
    const [first] = keys
    if (first === undefined) throw new Error('identity has no key')
    this.header = config.header
    this.keySet = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) })
    this.#issuer = config.issuer
    this.#lifetime = config.lifetime
    this.#key = first
    this.#protected = encoded({ alg: config.algorithm, kid: first.jwk.kid, typ: 'seatgate+jwt' })
    this.#signed = new LruMap(
      new MemoryBudget(memory),
      (_, claims, { line }) => SIGNED_BYTES + textBytes(claims) + asciiBytes(line.text),
    )
    this.#lookups = lookups
    this.#now = now
  }

  /**
   * The field line with the JWT for an allowed request. Synchronous.
   *
   * @param audience the name of the upstream
   * @returns null on a public route: the header is absent there
   */
  lineFor(audience: string, decision: Identified): FieldLines | null {
    const claims = claimsText(this.#issuer, audience, decision)
    if (claims === null || decision.principal === null) return null
    const { tenant } = decision.principal
    const now = this.#now()
    const known = this.#signed.get(tenant, claims)?.value
    // The clock may have been set back.
    const isHit = known !== undefined && now >= known.from && now <= known.until
    this.#lookups[isHit ? 'hits' : 'misses']++
    if (isHit) return known.line
    const signed = this.#sign(claims, now)
    this.#signed.set(tenant, claims, signed)
    return signed.line
  }

  /**
   * The same for the answer to another proxy: name and value. The value is empty where there is none, so that the proxy
   * overwrites the client's own header of that name.
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
    const text = `${this.#protected}.${Buffer.from(payload).toString('base64url')}`
    const line = new FieldLines(detachedText(`${this.header}: ${text}.${this.#key.sign(text)}\r\n`), null)
    return { line, from: now, until: expiresAt * 1000 - this.#lifetime / 2 }
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** A private key that signs JWTs, and its public half as a JWK (RFC 7517). */
class SigningKey {
  readonly jwk: PublicJwk
  readonly #key: KeyObject
  readonly #hash: 'sha256' | null

  /** Throws if the PEM text is not a private key of the algorithm. */
  constructor(pem: string, algorithm: IdentityAlgorithm) {
    this.#key = createPrivateKey(pem)
    this.#hash = algorithm === 'ES256' ? 'sha256' : null
    this.jwk = publicJwk(createPublicKey(this.#key), algorithm)
  }

  /** The signature in base64url; of ES256: R and S (RFC 7518, section 3.4), of EdDSA: RFC 8037, section 3.1. */
  sign(text: string): string {
    const key = { key: this.#key, dsaEncoding: 'ieee-p1363' } as const
    return sign(this.#hash, Buffer.from(text, 'latin1'), key).toString('base64url')
  }
}

function publicJwk(key: KeyObject, algorithm: IdentityAlgorithm): PublicJwk {
  const { crv, x, y } = key.export({ format: 'jwk' })
  if (crv === undefined || x === undefined) throw new Error(`the key is not one for ${algorithm}`)
  const members = y === undefined ? { crv, kty: 'OKP' as const, x } : { crv, kty: 'EC' as const, x, y }
  return Object.freeze({ ...members, kid: thumbprint(members), alg: algorithm, use: 'sig' })
}

/** RFC 7638, section 3. @param members the required ones, in the order of their names */
function thumbprint(members: object): string {
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url')
}
