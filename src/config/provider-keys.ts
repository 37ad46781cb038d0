/**
 * The gateway's private keys for an identity provider: `client_key` signs assertions, `decryption_keys`
 * decrypt ID tokens. The provider gets their public halves.
 */

import { createPrivateKey } from 'node:crypto'
import { publicJwk } from '../model/public-jwk.ts'
import { pem } from './pem.ts'

/** RFC 7518, sections 3.3 and 4.3. */
const MIN_RSA_BITS = 2048
const CURVES = ['P-256', 'P-384', 'P-521']

/** The reader of paths of files with a key of RSA or on one of {@link CURVES}. */
export const providerKey = pem('key', (text) => {
  const { asymmetricKeyType: type, asymmetricKeyDetails } = createPrivateKey(text)
  const bits = asymmetricKeyDetails?.modulusLength ?? 0
  if (type === 'rsa')
    return bits < MIN_RSA_BITS ? `has ${bits} bits: make an RSA key of at least ${MIN_RSA_BITS} bits` : null
  return type === 'ec' && CURVES.includes(jwkOf(text).crv ?? '')
    ? null
    : `is neither an RSA key nor on one of the curves ${CURVES.join(', ')}: make such a key`
})

/** The PEM texts of the keys for a provider. */
interface ProviderKeys {
  /** Null: there is none. */
  readonly clientKey: string | null
  readonly decryptionKeys: readonly string[]
}

/** The `kid` of a key, equal for equal keys alone. */
export function keyId(pem: string): string {
  return jwkOf(pem).kid
}

/**
 * The public keys to register at the provider (RFC 7517, section 5). An RSA key that signs names no
 * algorithm, because the provider's metadata decides which one signs.
 */
export function publicKeys({ clientKey, decryptionKeys }: ProviderKeys) {
  const signing = clientKey === null ? [] : [{ ...jwkOf(clientKey), use: 'sig' }]
  const decrypting = decryptionKeys.map((each) => {
    const jwk = jwkOf(each)
    return { ...jwk, use: 'enc', alg: jwk.crv === undefined ? 'RSA-OAEP-256' : 'ECDH-ES' }
  })
  return [...signing, ...decrypting]
}

function jwkOf(pem: string) {
  return publicJwk(createPrivateKey(pem))
}
