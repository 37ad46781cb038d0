/**
 * Authenticates values and messages in Redis: HMAC-SHA-256 truncated to 128 bits (RFC 2104, section 5), with
 * a key derived from the tenants' token secrets (HKDF, RFC 5869). A writer without the secrets can only cause
 * cache misses. After a change of secrets, older values are cache misses, and messages between gateways with
 * old and new secrets are dropped.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** Bytes of a MAC, and characters of its base64url form. */
const MAC_BYTES = 16
const MAC_CHARACTERS = 22

export class Seal {
  #key: Uint8Array

  /** @param secrets the same, in the same order, in all gateways of a deployment */
  constructor(secrets: readonly Uint8Array[]) {
    this.#key = keyOf(secrets)
  }

  /** Replaces the key. */
  setSecrets(secrets: readonly Uint8Array[]): void {
    this.#key = keyOf(secrets)
  }

  /**
   * @param location the key or channel; the MAC covers it, so a value copied to another location is invalid
   */
  seal(location: string, text: string): string {
    return this.#mac(location, text).toString('base64url') + text
  }

  /** @returns the text, or null when the MAC does not match */
  open(location: string, sealed: string): string | null {
    const text = sealed.slice(MAC_CHARACTERS)
    const claimed = Buffer.from(sealed.slice(0, MAC_CHARACTERS), 'base64url')
    if (claimed.length !== MAC_BYTES) return null
    return timingSafeEqual(claimed, this.#mac(location, text)) ? text : null
  }

  #mac(location: string, text: string): Buffer {
    const hmac = createHmac('sha256', this.#key).update(location).update('\0').update(text)
    return hmac.digest().subarray(0, MAC_BYTES)
  }
}

/** Length prefixes keep different lists distinct. */
function keyOf(secrets: readonly Uint8Array[]): Uint8Array {
  const material = Buffer.concat(secrets.flatMap((secret) => [Buffer.from(`${secret.length}:`), secret]))
  return new Uint8Array(hkdfSync('sha256', material, '', 'seatgate redis', 32))
}
