/** The keys of `identity`: the first one signs, and the public halves of all of them are published. */

import { createPrivateKey, sign, type SignKeyObjectInput } from 'node:crypto'
import type { IdentityAlgorithm, IdentityConfig } from '../config/config.ts'
import { publicJwk } from '../model/public-jwk.ts'

export class SigningKeys {
  /** The public keys (RFC 7517, section 5), as JSON. */
  readonly keySet: string
  readonly #key: SignKeyObjectInput
  readonly #hash: 'sha256' | null
  readonly #header: { readonly alg: IdentityAlgorithm; readonly kid: string | undefined }

  /** @throws Error if there is no key */
  constructor({ algorithm, keys: pems }: Pick<IdentityConfig, 'algorithm' | 'keys'>) {
    const keys = pems.map((pem) => createPrivateKey(pem))
    const jwks = keys.map((key) => ({ ...publicJwk(key), alg: algorithm, use: 'sig' }))
    const [key] = keys
    if (key === undefined) throw new Error('identity has no key')
    this.keySet = JSON.stringify({ keys: jwks })
    this.#key = { key, dsaEncoding: 'ieee-p1363' }
    this.#hash = algorithm === 'ES256' ? 'sha256' : null
    this.#header = { alg: algorithm, kid: jwks[0]?.kid }
  }

  /** The encoded header of each JWS of a type (RFC 7515, section 4.1.9). */
  headerOf(typ: string): string {
    return Buffer.from(JSON.stringify({ ...this.#header, typ })).toString('base64url')
  }

  /**
   * A compact JWS (RFC 7515, section 7.1).
   *
   * @param header as {@link headerOf} has it
   * @param payload JSON
   */
  sign(header: string, payload: string): string {
    const text = `${header}.${Buffer.from(payload).toString('base64url')}`
    // Of ES256: R and S (RFC 7518, section 3.4), of EdDSA: RFC 8037, section 3.1.
    const signature = sign(this.#hash, Buffer.from(text, 'latin1'), this.#key)
    return `${text}.${signature.toString('base64url')}`
  }
}
