/**
 * Parses a provider's token as a compact JWS (RFC 7515, section 7.1), and verifies its signature. As strict
 * as the parser of the gateway's own tokens (`decision/authn/jws.ts`), except that `kid` is allowed. Refuses
 * what jose accepts: padding, white space, non-zero trailing bits and duplicate members.
 */

import { compactVerify, decodeProtectedHeader, errors, type LocalJWKSet } from 'jose'
import { decodeBase64url, decodeJsonObject } from '../../lib/base64url.ts'
import { Refusal } from '../../model/errors.ts'
import { codeOf, ProviderError } from '../provider/provider-errors.ts'
import type { TokenSource } from '../provider/jwks.ts'

/** Characters; enough for hundreds of groups. */
export const MAX_TOKEN = 64 * 1024

export type Claims = Readonly<Record<string, unknown>>

export interface CompactJws {
  readonly text: string
  readonly algorithm: string
  /**
   * Header parameter `typ`, in lower case and without `application/` (RFC 7515, section 4.1.9); null without
   * one.
   */
  readonly type: string | null
  readonly claims: Claims
}

/**
 * Header parameters that change the meaning of the other parts. Parameters with a key or its location (`jwk`,
 * `jku`, `x5u`, `x5c`) are ignored, because some providers send them.
 */
const REFUSED_PARAMETERS = ['crit', 'b64', 'zip', 'enc'] as const

/**
 * The parts of a token, not verified. Null for any other text.
 *
 * @param most characters
 */
export function readCompact(text: string, most = MAX_TOKEN): CompactJws | null {
  if (text.length > most) return null
  const parts = text.split('.', 4)
  if (parts.length !== 3) return null
  const [headerText = '', payloadText = '', signatureText = ''] = parts
  const header = decodeJsonObject(headerText)
  const claims = decodeJsonObject(payloadText)
  if (header === null || claims === null || decodeBase64url(signatureText) === null) return null
  const { alg, typ = null } = header
  if (typeof alg !== 'string' || (typ !== null && typeof typ !== 'string')) return null
  if (REFUSED_PARAMETERS.some((name) => Object.hasOwn(header, name))) return null
  const type = typ === null ? null : typ.toLowerCase().replace(/^application\//, '')
  return { text, algorithm: alg, type, claims }
}

/** The values of `aud`: a text or a list (RFC 7519, section 4.1.3). */
export function audiencesOf({ aud }: Claims): readonly unknown[] {
  return Array.isArray(aud) ? aud : [aud]
}

/** The refusal of a token that is not accepted from any sender. */
export function invalidToken(detail: string): Refusal {
  return new Refusal('token_invalid', detail)
}

const otherAlgorithm = invalidToken(
  'The token is signed with an algorithm that the provider does not advertise or the gateway does not accept.',
)
const unknownKey = invalidToken('The token is signed with a key that the provider does not publish.')
const ambiguousKey = invalidToken('The token has no kid, and the provider publishes several matching keys.')
const badSignature = invalidToken('The signature of the token is not valid.')

/** Who must have signed a token. */
export interface Signer {
  /** Accepted algorithms. Rejects with ProviderError if they are not known. */
  algorithms(): Promise<readonly string[]>
  readonly keys: SignerKeys
}

/** The public keys of a signer, or the secret of one who signs by HMAC. */
export interface SignerKeys {
  /** As of `KeySet`. */
  with<T>(source: TokenSource, use: (keys: LocalJWKSet | Uint8Array) => Promise<T>): Promise<T>
}

/**
 * @returns null if the signature is valid. Rejects with ProviderError if the keys are unavailable or
 *   unusable.
 */
export async function checkSignature(
  jws: CompactJws,
  signer: Signer,
  source: TokenSource,
): Promise<Refusal | null> {
  const algorithms = await signer.algorithms()
  if (!algorithms.includes(jws.algorithm)) return otherAlgorithm
  try {
    await signer.keys.with(source, (keys) => verify(jws, keys))
    return null
  } catch (cause) {
    if (cause instanceof ProviderError) throw cause
    if (cause instanceof errors.JWKSNoMatchingKey) return unknownKey
    if (cause instanceof errors.JWKSMultipleMatchingKeys) return ambiguousKey
    if (cause instanceof errors.JWSSignatureVerificationFailed || cause instanceof errors.JWSInvalid)
      return badSignature
    // The key itself is invalid or too short, which says nothing about the token.
    throw new ProviderError(`a key of the provider is not usable (${codeOf(cause)})`)
  }
}

/** The most keys with one `kid` that are tried, which bounds the cost of a token. */
const MAX_SAME_NAME = 4

/**
 * RFC 7517, section 4.5, lets keys share a `kid`: each is tried then. A token without one must not need a
 * choice.
 */
async function verify({ text, algorithm }: CompactJws, keys: LocalJWKSet | Uint8Array): Promise<void> {
  const options = { algorithms: [algorithm] }
  try {
    await compactVerify(text, keys, options)
  } catch (cause) {
    const isNamed = decodeProtectedHeader(text).kid !== undefined
    if (!isNamed || !(cause instanceof errors.JWKSMultipleMatchingKeys)) throw cause
    let tried = 0
    for await (const key of cause) {
      if (tried++ === MAX_SAME_NAME) break
      const isSigner = await compactVerify(text, key, options).then(
        () => true,
        (each: unknown) => {
          if (each instanceof errors.JWSSignatureVerificationFailed) return false
          throw each
        },
      )
      if (isSigner) return
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}
