/** Verifies the signature of a provider's token. */

import { compactVerify, errors } from 'jose'
import { Refusal } from '../../model/errors.ts'
import type { CompactJws } from './compact-jws.ts'
import type { TokenSource } from '../provider/jwks.ts'
import type { Provider } from '../provider/provider.ts'
import { codeOf, ProviderError } from '../provider/errors.ts'

const otherAlgorithm = new Refusal(
  'token_invalid',
  'The token is signed with an algorithm that the provider does not advertise or the gateway does not accept.',
)
const unknownKey = new Refusal(
  'token_invalid',
  'The token is signed with a key that the provider does not publish.',
)
const ambiguousKey = new Refusal(
  'token_invalid',
  'The token has no kid, and the provider publishes several matching keys.',
)
const badSignature = new Refusal('token_invalid', 'The signature of the token is not valid.')

/** @returns null when the signature is valid. Rejects with ProviderError when the keys are unavailable or unusable. */
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
    return refusalOf(cause)
  }
}

function refusalOf(cause: unknown): Refusal {
  if (cause instanceof ProviderError) throw cause
  if (cause instanceof errors.JWKSNoMatchingKey) return unknownKey
  if (cause instanceof errors.JWKSMultipleMatchingKeys) return ambiguousKey
  if (cause instanceof errors.JWSSignatureVerificationFailed || cause instanceof errors.JWSInvalid)
    return badSignature
  // The key itself is invalid or too short, which says nothing about the token.
  throw new ProviderError(`a key of the provider is not usable (${codeOf(cause)})`)
}
