/** The key of `private_key_jwt`, for the algorithm that the provider verifies (RFC 7523; RFC 8414, section 2). */

import { createPrivateKey } from 'node:crypto'
import type { PrivateKey } from 'openid-client'
import { publicJwk } from '../../model/public-jwk.ts'
import { sanitizeName } from './log-text.ts'
import { ProviderError } from './provider-errors.ts'

const rsa = (name: string, bits: number) => ({ name, hash: `SHA-${bits}` })
const ecdsa = (namedCurve: string) => ({ name: 'ECDSA', namedCurve })

/** Algorithm → the parameters of its key; of RSA the most common first (RFC 7518, section 3.1). */
const ALGORITHMS: Readonly<Record<string, ReturnType<typeof rsa> | ReturnType<typeof ecdsa>>> = {
  RS256: rsa('RSASSA-PKCS1-v1_5', 256),
  PS256: rsa('RSA-PSS', 256),
  RS384: rsa('RSASSA-PKCS1-v1_5', 384),
  PS384: rsa('RSA-PSS', 384),
  RS512: rsa('RSASSA-PKCS1-v1_5', 512),
  PS512: rsa('RSA-PSS', 512),
  ES256: ecdsa('P-256'),
  ES384: ecdsa('P-384'),
  ES512: ecdsa('P-521'),
}

/** The names of the algorithms that a key can sign with. */
function algorithmsOf(crv: string | undefined): readonly string[] {
  const fits = (key: object) => ('namedCurve' in key ? key.namedCurve : undefined) === crv
  return Object.keys(ALGORITHMS).filter((name) => fits(ALGORITHMS[name] ?? {}))
}

/**
 * @param pem a private key of RSA or on a curve of {@link ALGORITHMS}
 * @param advertised `token_endpoint_auth_signing_alg_values_supported` of the discovery document
 * @throws ProviderError if the provider verifies none of the key's algorithms
 */
export function assertionKey(pem: string, advertised: unknown): PrivateKey {
  const key = createPrivateKey(pem)
  const { kid, crv } = publicJwk(key)
  const own = algorithmsOf(crv)
  const verified: readonly unknown[] = Array.isArray(advertised) ? advertised : own
  const algorithm = ALGORITHMS[own.find((each) => verified.includes(each)) ?? '']
  if (algorithm === undefined)
    throw new ProviderError(
      `the provider verifies assertions by ${sanitizeName(verified.join(', ')) || 'no algorithm'}, and client_key signs by ${own.join(', ')}`,
    )
  return { kid, key: key.toCryptoKey(algorithm, false, ['sign']) }
}
