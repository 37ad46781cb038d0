/**
 * What a provider requires of every client, or offers nothing else than, and the gateway does not do: by its
 * discovery document (OpenID Connect Discovery 1.0, section 3; RFC 8414, section 2).
 */

import type { ServerMetadata } from 'openid-client'
import type { OidcConfig } from '../../config/config.ts'
import { acceptedAlgorithms } from './algorithms.ts'
import { sanitizeName } from './log-text.ts'

type Listed = readonly unknown[]

/** The list; null: the document has none, so that nothing is known. */
function listed(metadata: ServerMetadata, member: string): Listed | null {
  const value: unknown = metadata[member]
  return Array.isArray(value) ? value : null
}

function shown(names: Listed): string {
  return names.length === 0 ? 'none' : sanitizeName(names.join(', '))
}

/** A list that lacks what every sign-in uses. */
const NEEDED: readonly (readonly [member: string, value: string, what: string])[] = [
  ['response_types_supported', 'code', 'authorization responses of other types'],
  ['response_modes_supported', 'query', 'other modes of the authorization response'],
  ['grant_types_supported', 'authorization_code', 'other grants'],
  ['code_challenge_methods_supported', 'S256', 'other methods of PKCE'],
]

/** Whether the document requires signed request objects (RFC 9101, section 10.5). */
export function requiresObject(metadata: ServerMetadata): boolean {
  return metadata.require_signed_request_object === true
}

/** Each requirement as a sentence, with the member that has it and what to do. */
export function unmetRequirements(metadata: ServerMetadata, oidc: OidcConfig): string[] {
  const unmet: string[] = []
  if (requiresObject(metadata))
    unmet.push(
      'it requires signed request objects of every client, which the gateway does not send (require_signed_request_object)',
    )
  for (const [member, value, what] of NEEDED) {
    const offered = listed(metadata, member)
    if (offered !== null && !offered.includes(value))
      unmet.push(`it offers ${what} alone, and the gateway uses ${value} (${member}: ${shown(offered)})`)
  }
  return [...unmet, ...ofTokens(metadata, oidc)]
}

function ofTokens(metadata: ServerMetadata, { idTokenSigningAlg, decryptionKeys }: OidcConfig): string[] {
  const unmet: string[] = []
  const member = 'id_token_signing_alg_values_supported'
  const offered = listed(metadata, member)
  if (idTokenSigningAlg !== null && offered?.includes(idTokenSigningAlg) === false)
    unmet.push(`it does not sign ID tokens by ${idTokenSigningAlg} (${member}: ${shown(offered)})`)
  else if (idTokenSigningAlg === null && acceptedAlgorithms(offered ?? undefined).length === 0) {
    const advice = offered?.includes('HS256') === true ? ': set id_token_signing_alg: HS256' : ''
    unmet.push(
      `it signs ID tokens by no algorithm that the gateway accepts${advice} (${member}: ${shown(offered ?? [])})`,
    )
  }
  if (decryptionKeys.length > 0)
    for (const [name, accepted] of ENCRYPTION) {
      const algorithms = listed(metadata, name)
      if (algorithms !== null && !accepted.some((each) => algorithms.includes(each)))
        unmet.push(
          `it encrypts ID tokens by none of ${accepted.join(', ')}, which decryption_keys are for (${name}: ${shown(algorithms)})`,
        )
    }
  return unmet
}

const ENCRYPTION: readonly (readonly [member: string, accepted: readonly string[]])[] = [
  ['id_token_encryption_alg_values_supported', ['RSA-OAEP-256', 'ECDH-ES']],
  ['id_token_encryption_enc_values_supported', ['A128GCM', 'A256GCM']],
]
