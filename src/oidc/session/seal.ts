/**
 * Encrypts the provider's tokens at rest: AES-256-GCM (NIST SP 800-38D), with a key derived from the tenant's token secret
 * (HKDF, RFC 5869).
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Domain separation: keys derived from the same secret for other uses differ. */
const LABEL = 'seatgate/oidc/seal/v1'
const VERSION = 1
const NONCE = 12
const TAG = 16

/** Derived keys by secret. */
const derived = new WeakMap<Uint8Array, Buffer>()

/**
 * Encrypts with the first secret; `open` accepts all secrets.
 *
 * @param binding additional authenticated data (kind, tenant, issuer, id): the text opens only with the same binding
 */
export function seal(text: string, secrets: readonly Uint8Array[], binding: readonly string[]): string {
  const [secret] = secrets
  if (secret === undefined) throw new Error('no secret to seal with')
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce)
  cipher.setAAD(bindingBytes(binding))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.from([VERSION]), nonce, body, cipher.getAuthTag()]).toString('base64url')
}

/** @returns null when no secret opens the text with this binding */
export function open(
  sealed: string,
  secrets: readonly Uint8Array[],
  binding: readonly string[],
): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < 1 + NONCE + TAG || bytes[0] !== VERSION) return null
  for (const secret of secrets) {
    const text = openWith(bytes, keyOf(secret), bindingBytes(binding))
    if (text !== null) return text
  }
  return null
}

function openWith(bytes: Buffer, key: Buffer, binding: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + NONCE), { authTagLength: TAG })
  decipher.setAAD(binding)
  decipher.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(1 + NONCE, -TAG)), decipher.final()]).toString(
      'utf8',
    )
  } catch {
    return null
  }
}

function keyOf(secret: Uint8Array): Buffer {
  let key = derived.get(secret)
  if (key === undefined) {
    key = Buffer.from(hkdfSync('sha256', secret, new Uint8Array(0), LABEL, 32))
    derived.set(secret, key)
  }
  return key
}

/** JSON keeps different bindings distinct. */
function bindingBytes(binding: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(binding))
}
