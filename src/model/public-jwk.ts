/** The public halves of keys as JWKs. */

import { createHash, createPublicKey, type KeyObject } from 'node:crypto'

/**
 * The public half of a private key (RFC 7517) on a curve or of RSA. Its `kid` is its thumbprint (RFC 7638), so
 * that the same key has the same name everywhere.
 */
export function publicJwk(key: KeyObject) {
  const { kty, crv, x, y, e, n } = createPublicKey(key).export({ format: 'jwk' })
  // The required members in the order of their names (RFC 7638, section 3.2). JSON leaves out the `y` of
  // Ed25519.
  const members = kty === 'RSA' ? { e, kty, n } : { crv, kty, x, y }
  return { ...members, kid: createHash('sha256').update(JSON.stringify(members)).digest('base64url') }
}
