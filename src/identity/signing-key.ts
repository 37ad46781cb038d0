/** A private key that signs JWTs, and its public half as a JWK (RFC 7517). */

import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { IdentityAlgorithm } from '../config/config.ts'

export interface PublicJwk {
  readonly kty: 'EC' | 'OKP'
  readonly crv: string
  readonly x: string
  readonly y?: string
  readonly kid: string
  readonly alg: IdentityAlgorithm
  readonly use: 'sig'
}

export class SigningKey {
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
