/**
 * What is written to Redis carries a proof that a gateway of this deployment wrote it there: HMAC-SHA-256, cut to 128
 * bits (RFC 2104, section 5), with a key drawn from the tenants' token secrets (HKDF, RFC 5869). Whoever can write to
 * Redis but knows none of them can make Seatgate forget and ask again, and no more. After a change of secrets what was
 * written before counts as nothing, and gateways that have not loaded it yet are not heard.
 */

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

const LENGTH = 16
const TEXT_LENGTH = 22

export class Seal {
  #key: Uint8Array

  /** @param secrets the same, in the same order, in all gateways of a deployment */
  constructor(secrets: readonly Uint8Array[]) {
    this.#key = keyOf(secrets)
  }

  /** From now on. */
  use(secrets: readonly Uint8Array[]): void {
    this.#key = keyOf(secrets)
  }

  /** @param place where it stands: what is moved elsewhere is worth nothing there */
  seal(place: string, text: string): string {
    return this.#proof(place, text).toString('base64url') + text
  }

  /** Null for what is not just as it was sealed. */
  open(place: string, sealed: string): string | null {
    const text = sealed.slice(TEXT_LENGTH)
    const claimed = Buffer.from(sealed.slice(0, TEXT_LENGTH), 'base64url')
    if (claimed.length !== LENGTH) return null
    return timingSafeEqual(claimed, this.#proof(place, text)) ? text : null
  }

  #proof(place: string, text: string): Buffer {
    const hmac = createHmac('sha256', this.#key).update(place).update('\0').update(text)
    return hmac.digest().subarray(0, LENGTH)
  }
}

/** A length before each, so that no two lists read the same. */
function keyOf(secrets: readonly Uint8Array[]): Uint8Array {
  const material = Buffer.concat(secrets.flatMap((secret) => [Buffer.from(`${secret.length}:`), secret]))
  return new Uint8Array(hkdfSync('sha256', material, '', 'seatgate redis', 32))
}
