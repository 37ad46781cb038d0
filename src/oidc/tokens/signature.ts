/** Whether the provider signed a token. */

import { compactVerify, errors } from 'jose'
import { Refusal } from '../../model/errors.ts'
import type { CompactJws } from './compact-jws.ts'
import type { TokenSource } from '../provider/jwks.ts'
import type { Provider } from '../provider/provider.ts'
import { codeOf, ProviderError } from '../provider/provider-error.ts'

const otherAlgorithm = new Refusal(
  'token_invalid',
  'The token is signed by an algorithm that the provider does not advertise, or that is not accepted.',
)
const unknownKey = new Refusal(
  'token_invalid',
  'The token is signed by a key that the provider does not publish.',
)
const ambiguousKey = new Refusal(
  'token_invalid',
  'The token does not name its key, and the provider publishes several that fit.',
)
const forged = new Refusal('token_invalid', 'The signature of the token is not good.')

/** Null when it did. Rejects with ProviderTrouble when the keys can't be had or used. */
export async function checkSignature(
  jws: CompactJws,
  provider: Provider,
  source: TokenSource,
): Promise<Refusal | null> {
  const { algorithms } = await provider.discovered()
  if (!algorithms.includes(jws.algorithm)) return otherAlgorithm
  try {
    await provider.keys.with(source, (keys) => compactVerify(jws.text, keys, { algorithms: [jws.algorithm] }))
    return null
  } catch (cause) {
    return judged(cause)
  }
}

function judged(cause: unknown): Refusal {
  if (cause instanceof ProviderError) throw cause
  if (cause instanceof errors.JWKSNoMatchingKey) return unknownKey
  if (cause instanceof errors.JWKSMultipleMatchingKeys) return ambiguousKey
  if (cause instanceof errors.JWSSignatureVerificationFailed || cause instanceof errors.JWSInvalid)
    return forged
  // The key itself is broken, or too short to be one: says nothing about the token.
  throw new ProviderError(`a key of the provider can't be used (${codeOf(cause)})`)
}
