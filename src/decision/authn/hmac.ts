/**
 * HMAC signatures of tokens (RFC 2104; RFC 7518, section 3.2), compared as text.
 *
 * jose verifies on another thread, at several times the cost, which a flood of bad tokens would make the gateway pay.
 */

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import type { TokenConfig } from '../../config/config.ts'

/** Names for OpenSSL. */
const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const

/** A secret for signatures. */
export class HmacKey {
  readonly #hash: (typeof HASHES)[TokenConfig['algorithm']]
  readonly #key: KeyObject

  constructor(algorithm: TokenConfig['algorithm'], secret: Uint8Array) {
    this.#hash = HASHES[algorithm]
    this.#key = createSecretKey(secret)
  }

  /** The signature in canonical base64url. */
  sign(input: string): string {
    return createHmac(this.#hash, this.#key).update(input).digest('base64url')
  }

  /** Whether it is the signature, in canonical base64url. The time depends on the lengths alone. */
  verifies(input: string, signature: string): boolean {
    const expected = Buffer.from(this.sign(input))
    // As UTF-8, a character beyond ASCII has more bytes, so that it equals none of the expected ones.
    const claimed = Buffer.from(signature)
    return expected.length === claimed.length && timingSafeEqual(expected, claimed)
  }
}
