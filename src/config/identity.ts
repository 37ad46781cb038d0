/** `identity:`: the header and the keys that sign the identity of callers for upstreams. */

import { createPrivateKey, type KeyObject } from 'node:crypto'
import { InvalidValue } from './invalid-value.ts'
import { pem, PEM_FILE } from './pem.ts'
import { headerName, isReservedField } from './reserved-fields.ts'
import type { Section } from './section.ts'
import { asWritten, choice, duration, list, map, optional, required, text } from './setting.ts'

/** The only name in the gateway's own namespace that a setting may use. */
const OWN_FIELD = 'x-seatgate-jwt'

export type IdentityAlgorithm = 'ES256' | 'EdDSA'

/** The settings of the JWT that identifies the caller to upstreams; null: there is no JWT. */
export const identity = optional(
  map(
    'Signs the identity of callers for upstreams: each forwarded request carries a JWT. See signed-identity.md. Default: off.',
    {
      header: text(
        "The request header that carries the JWT. A client's own header of this name is dropped.",
        identityField,
        { default: 'x-seatgate-jwt', examples: ['x-acme-identity'] },
      ),
      algorithm: choice('ES256 (ECDSA on P-256) or EdDSA (Ed25519).', ['ES256', 'EdDSA'], {
        default: 'ES256',
        examples: ['ES256'],
      }),
      keys: required(
        list(
          'PEM files with private keys (PKCS#8, no passphrase), relative to this file. The first key signs. The public keys of all of them are at /.well-known/seatgate/jwks.json. A changed key file is reloaded in the same way as this file.',
          asWritten,
          { minItems: 1, maxItems: 16, items: { ...PEM_FILE, examples: ['keys/2026.pem'] } },
        ),
      ),
      lifetime: duration(
        'How long a JWT is valid. For half of that time, the gateway sends the same JWT again for the same caller to the same upstream.',
        '5s',
        '5m',
        { default: '60s', examples: ['2m'] },
      ),
      issuer: text('The iss claim: a name or a URI of this gateway.', issuer, {
        default: 'seatgate',
        examples: ['https://gateway.example.com'],
      }),
    },
    (values, section) =>
      Object.freeze({
        ...values,
        /**
         * The PEM texts of private keys, at least one. The first key signs; the public keys of all are
         * published.
         */
        keys: Object.freeze(buildKeys(section, values.algorithm)),
      }),
  ),
)

/** Reads the key files together, because a key under two names would be published twice. */
function buildKeys(section: Section, algorithm: IdentityAlgorithm): string[] {
  const earlier: KeyObject[] = []
  const read = pem('key', (text) => {
    const key = signingKey(text, algorithm)
    if (typeof key === 'string') return key
    if (earlier.some((each) => each.equals(key)))
      return 'is the same key as an earlier one: remove one of them'
    earlier.push(key)
    return null
  })
  return section.texts('keys', (path) => read(path, section))
}

function identityField(text: string): string | InvalidValue {
  const name = headerName(text)
  if (name instanceof InvalidValue) return name
  if (name !== OWN_FIELD && (name === 'space' || isReservedField(name)))
    return new InvalidValue('is reserved, or written by the gateway itself: choose another header')
  return name
}

/** A StringOrURI (RFC 7519, section 2): a value with a colon is a URI. */
function issuer(text: string): string | InvalidValue {
  if (text === '' || text.length > 256 || /[^!-~]/.test(text))
    return new InvalidValue('is not 1 to 256 visible ASCII characters')
  return !text.includes(':') || URL.canParse(text)
    ? text
    : new InvalidValue('has a colon, but is not a URI: correct the URI, or leave the colon out')
}

/**
 * Keys are PKCS#8 in PEM (RFC 5958; RFC 7468, section 10), of the curve of the algorithm.
 *
 * @returns for a fault, a text that follows the name of the file, without any of its content
 */
function signingKey(pem: string, algorithm: IdentityAlgorithm): KeyObject | string {
  const key = createPrivateKey(pem)
  return fits(key, algorithm) ? key : `is not a key for ${algorithm}: make one ${NEEDED[algorithm]}`
}

const NEEDED: Readonly<Record<IdentityAlgorithm, string>> = {
  ES256: 'on the curve P-256',
  EdDSA: 'of the type Ed25519',
}

function fits(key: KeyObject, algorithm: IdentityAlgorithm): boolean {
  if (algorithm === 'EdDSA') return key.asymmetricKeyType === 'ed25519'
  return key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
}
