/**
 * Accepted signature algorithms of a provider's tokens (RFC 7518, section 3.1; RFC 8037; RFC 9864):
 * asymmetric ones only. `none` and HMAC are not listed, so neither discovery nor a token's header can select
 * them: only the configuration selects HS256, and then nothing else.
 */

/** Algorithm → the hash of its family, for `at_hash` (OpenID Connect Core 1.0, section 3.1.3.6). */
const HASHES: Readonly<Record<string, string>> = {
  RS256: 'sha256',
  RS384: 'sha384',
  RS512: 'sha512',
  PS256: 'sha256',
  PS384: 'sha384',
  PS512: 'sha512',
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  // Ed25519, whose own hash is SHA-512.
  EdDSA: 'sha512',
  Ed25519: 'sha512',
}

/** All accepted algorithms. */
export const ASYMMETRIC: readonly string[] = Object.keys(HASHES)

/** The algorithm of providers that advertise none: mandatory by OpenID Connect Core 1.0, section 15.1. */
const DEFAULT = ['RS256']

/** The algorithm of `id_token_signing_alg`, with the client secret as its key. */
const HMAC = 'HS256'

export function acceptedAlgorithms(advertised: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(advertised) ? advertised : DEFAULT
  return names.filter((name): name is string => typeof name === 'string' && Object.hasOwn(HASHES, name))
}

export function hashOf(algorithm: string): string | null {
  if (algorithm === HMAC) return 'sha256'
  return Object.hasOwn(HASHES, algorithm) ? (HASHES[algorithm] ?? null) : null
}
