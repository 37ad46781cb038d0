/**
 * Encrypts the provider's tokens at rest, and the cookie of a pending sign-in: AES-256-GCM (NIST SP 800-38D)
 * with keys derived from the tenant's token secret (HKDF, RFC 5869). The bound values are additional
 * authenticated data: a text opens only with the same ones.
 */

import { getOrInsertComputed } from '../lib/get-or-insert.ts'
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

const TAG = 16
const NONCE = 12
const VERSION = 1

/** Encrypts with the first secret; `open` accepts all secrets. */
export function seal(text: string, secrets: readonly Uint8Array[], bound: readonly unknown[]): string {
  const [secret] = secrets
  if (secret === undefined) throw new Error('no secret to seal with')
  const nonce = randomBytes(NONCE)
  const body = encrypt(text, sealKey(secret), nonce, bound)
  return Buffer.concat([Buffer.from([VERSION]), nonce, body]).toString('base64url')
}

/** @returns null if no secret opens the text with these values */
export function open(
  sealed: string,
  secrets: readonly Uint8Array[],
  bound: readonly unknown[],
): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < 1 + NONCE + TAG || bytes[0] !== VERSION) return null
  const nonce = bytes.subarray(1, 1 + NONCE)
  for (const secret of secrets) {
    const text = decrypt(bytes.subarray(1 + NONCE), sealKey(secret), nonce, bound)
    if (text !== null) return text
  }
  return null
}

/** A key encrypts the text of one state only, hence the constant initialization vector. */
const STATE_IV = Buffer.alloc(NONCE)

/**
 * Derived from the state, which is random, as the key is (HMAC-SHA-256, RFC 2104). The cookie does not
 * contain them, which keeps it small.
 */
export interface Derived {
  readonly nonce: string
  /** PKCE (RFC 7636, section 4.1): 256 bits. */
  readonly verifier: string
}

/** Characters of what {@link sealState} makes of a text. */
export function sealedLength(text: string): number {
  return Math.ceil(((Buffer.byteLength(text) + TAG) * 4) / 3)
}

export function sealState(
  text: string,
  secret: Uint8Array,
  state: string,
  bound: readonly unknown[],
): Derived & { readonly sealed: string } {
  const { key, derived } = fromState(secret, state)
  return { sealed: encrypt(text, key, STATE_IV, bound).toString('base64url'), ...derived }
}

/** @returns null if no secret opens the text with this state and these values */
export function openState(
  sealed: string,
  secrets: readonly Uint8Array[],
  state: string,
  bound: readonly unknown[],
): (Derived & { readonly text: string }) | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < TAG || bytes.toString('base64url') !== sealed) return null
  for (const secret of secrets) {
    const { key, derived } = fromState(secret, state)
    const text = decrypt(bytes, key, STATE_IV, bound)
    if (text !== null) return { text, ...derived }
  }
  return null
}

function fromState(secret: Uint8Array, state: string): { key: Buffer; derived: Derived } {
  const derive = (use: string) => createHmac('sha256', stateKey(secret)).update(`${use} ${state}`)
  const [nonce, verifier] = [derive('nonce').digest('base64url'), derive('pkce').digest('base64url')]
  return { key: derive('key').digest(), derived: { nonce, verifier } }
}

/** Keys of different labels differ. */
const sealKey = derivation('seatgate/oidc/seal/v1')
const stateKey = derivation('seatgate/oidc/sign-in/v1')

/** @returns a function that derives the key of a secret, once */
function derivation(label: string): (secret: Uint8Array) => Buffer {
  const keys = new WeakMap<Uint8Array, Buffer>()
  const derive = (secret: Uint8Array) => Buffer.from(hkdfSync('sha256', secret, new Uint8Array(0), label, 32))
  return (secret) => getOrInsertComputed(keys, secret, () => derive(secret))
}

/** @returns the ciphertext and the tag */
function encrypt(text: string, key: Buffer, iv: Buffer, bound: readonly unknown[]): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from(JSON.stringify(bound)))
  return Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

function decrypt(bytes: Buffer, key: Buffer, iv: Buffer, bound: readonly unknown[]): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG })
  decipher.setAAD(Buffer.from(JSON.stringify(bound)))
  decipher.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
