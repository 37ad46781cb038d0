/**
 * Keeps secrets of others at rest: AES-256-GCM, under a key derived (HKDF, RFC 5869) from the tenant's token secret.
 * For the provider's tokens in the store and for sign-ins under way.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Names the use, so that no other key derived from the same secret is this one. */
const LABEL = 'seatgate/oidc/seal/v1'
const VERSION = 1
const NONCE = 12
const TAG = 16

/** Derived once a secret; gone with it. */
const derived = new WeakMap<Uint8Array, Buffer>()

/**
 * Sealed under the first secret; every one of them opens.
 *
 * @param place where it belongs (tenant, kind, id): sealed text moved to another place does not open there
 */
export function seal(text: string, secrets: readonly Uint8Array[], place: readonly string[]): string {
  const [secret] = secrets
  if (secret === undefined) throw new Error('no secret to seal with')
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', keyOf(secret), nonce)
  cipher.setAAD(placeBytes(place))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.from([VERSION]), nonce, body, cipher.getAuthTag()]).toString('base64url')
}

/** Null when none of the secrets sealed it, for this place. */
export function open(
  sealed: string,
  secrets: readonly Uint8Array[],
  place: readonly string[],
): string | null {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < 1 + NONCE + TAG || bytes[0] !== VERSION) return null
  for (const secret of secrets) {
    const text = openWith(bytes, keyOf(secret), placeBytes(place))
    if (text !== null) return text
  }
  return null
}

function openWith(bytes: Buffer, key: Buffer, place: Buffer): string | null {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, 1 + NONCE), { authTagLength: TAG })
  decipher.setAAD(place)
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

/** As JSON, so that no two places have the same bytes. */
function placeBytes(place: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(place))
}
