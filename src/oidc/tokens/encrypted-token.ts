/**
 * Decrypts a provider's tokens: a compact JWE (RFC 7516, section 7.1) with a signed JWT inside. As strict as
 * `compact-jws.ts`: each part has one spelling, and the header selects among the configured keys and the
 * algorithms below alone. Without compression, which a small token could use to become a large one.
 */

import { createPrivateKey, type KeyObject } from 'node:crypto'
import { compactDecrypt } from 'jose'
import { decodeBase64url, decodeJsonObject } from '../../lib/base64url.ts'
import type { Refusal } from '../../model/errors.ts'
import { publicJwk } from '../../model/public-jwk.ts'
import { invalidToken, MAX_TOKEN, readCompact } from './compact-jws.ts'

/** Characters of a signed token in base64url, and 4 KiB for the header and the encrypted key. */
const MAX_ENCRYPTED = Math.ceil((MAX_TOKEN * 4) / 3) + 4096
/** The algorithms of keys (RFC 7518, section 4) → the type of the key. */
const KEY_TYPES: Readonly<Record<string, KeyObject['asymmetricKeyType']>> = {
  'RSA-OAEP-256': 'rsa',
  'ECDH-ES': 'ec',
}
/** RFC 7518, section 5.3. */
const CONTENT_ALGORITHMS: readonly unknown[] = ['A128GCM', 'A256GCM']
/** Header parameters that change how the other parts are read. */
const REFUSED_PARAMETERS = ['crit', 'zip'] as const

const otherForm = invalidToken(
  'The token is encrypted in a way that the gateway does not accept: RSA-OAEP-256 or ECDH-ES with A128GCM or A256GCM, without compression.',
)
const otherKey = invalidToken('The token is not encrypted for one of decryption_keys, or was altered.')
const unsigned = invalidToken('The encrypted token has no signed JWT inside.')

/** Whether the text has the five parts of a JWE. */
export function isEncrypted(text: string): boolean {
  return text.split('.', 6).length === 5
}

export class DecryptionKeys {
  readonly #keys: readonly { readonly key: KeyObject; readonly kid: string }[]

  /** @param pems private keys, of RSA or on a curve */
  constructor(pems: readonly string[]) {
    this.#keys = pems.map((pem) => {
      const key = createPrivateKey(pem)
      return { key, kid: publicJwk(key).kid }
    })
  }

  get isEmpty(): boolean {
    return this.#keys.length === 0
  }

  /** The signed token inside, which is not verified. */
  async decrypt(text: string): Promise<string | Refusal> {
    const header = readHeader(text)
    if (header === null) return otherForm
    const { alg, enc, kid } = header
    const fitting = this.#keys.filter(({ key }) => key.asymmetricKeyType === KEY_TYPES[alg])
    const named = fitting.filter((each) => each.kid === kid)
    // A provider may have its own names for the keys that were registered there.
    for (const { key } of named.length > 0 ? named : fitting) {
      const plain = await decrypted(text, key, alg, enc)
      if (plain === null) continue
      return readCompact(plain) === null ? unsigned : plain
    }
    return otherKey
  }
}

/** Null: another key is needed, or the token was altered. */
async function decrypted(text: string, key: KeyObject, alg: string, enc: string): Promise<string | null> {
  try {
    const options = { keyManagementAlgorithms: [alg], contentEncryptionAlgorithms: [enc] }
    const { plaintext } = await compactDecrypt(text, key, options)
    return Buffer.from(plaintext).toString('latin1')
  } catch {
    // Anyone can write a token: a point off the curve, or an encrypted key of another size, has an error of its
    // own. All of them are the same refusal.
    return null
  }
}

/** Null: the text is not a compact JWE in canonical form, or needs what the gateway does not accept. */
function readHeader(
  text: string,
): { readonly alg: string; readonly enc: string; readonly kid: unknown } | null {
  if (text.length > MAX_ENCRYPTED) return null
  const [headerText = '', ...others] = text.split('.', 6)
  if (others.length !== 4 || others.some((part) => decodeBase64url(part) === null)) return null
  const header = decodeJsonObject(headerText)
  if (header === null || REFUSED_PARAMETERS.some((name) => Object.hasOwn(header, name))) return null
  const { alg, enc, kid } = header
  if (typeof alg !== 'string' || !Object.hasOwn(KEY_TYPES, alg)) return null
  return typeof enc === 'string' && CONTENT_ALGORITHMS.includes(enc) ? { alg, enc, kid } : null
}
