/**
 * Determines the user and the Seat names from the provider's tokens. Verifies the ID token; userinfo supplies the claims
 * that it lacks.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import { type Claims, invalidToken } from './compact-jws.ts'
import { type IdTokenChecks, isSubject, verifyIdToken } from './id-token.ts'
import {
  type Identity,
  identityOf,
  isOpaqueId,
  isDistributed,
  isOfTenant,
  lacksTenant,
  otherTenant,
  readSeatsClaim,
} from './id-token-claims.ts'
import { withFields } from '../context.ts'
import type { OidcLog } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import type { ProviderTokens } from '../provider/token-endpoint.ts'
import {
  clientErrorCode,
  type ProviderError,
  type ProviderRefused,
  translateError,
} from '../provider/provider-errors.ts'

export interface SignedInUser {
  readonly identity: Identity
  /** Seat names as the provider writes them. */
  readonly names: readonly string[]
  /** False: neither the ID token nor userinfo has the claim that names Seats. */
  readonly namesSeats: boolean
  /** The provider's session, the claim `sid` of the ID token; null when it names none. */
  readonly providerSid: string | null
}

export type UserChecks = Pick<IdTokenChecks, 'now' | 'nonce' | 'nonceOptional' | 'sub'>

const NO_CLAIMS: Claims = Object.freeze({})
/** Codes of openid-client: `sub` of userinfo differs or is missing. */
const SUBJECT = new Set(['OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', 'OAUTH_INVALID_RESPONSE'])
const otherSub = invalidToken('The sub of userinfo differs from the sub of the ID token.')
const noIdentity = invalidToken('The identity provider did not identify the user.')

/** Rejects with ProviderError or ProviderRefused. */
export async function readUser(
  provider: Provider,
  tokens: ProviderTokens,
  checks: UserChecks,
  log: OidcLog,
): Promise<SignedInUser | Refusal> {
  const token = await verifiedToken(provider, tokens, checks)
  if (token instanceof Refusal) return token
  const { tenant } = provider
  const path = tenant.oidc.seatsClaim
  const { sub, claims } = token
  const first = readSeatsClaim(claims, path)
  const decides = tokens.idToken === null || first.names === null || lacksTenant(claims, tenant.oidc)
  const informs = claims.email === undefined && tenant.oidc.scopes.includes('email')
  const asked = decides || informs ? await userinfo(provider, tokens.accessToken, sub) : NO_CLAIMS
  if (asked instanceof Refusal) return asked.of({ tenant: tenant.id, user: sub })
  if (asked instanceof Error && decides) {
    asked.user = sub
    throw asked
  }
  const own = withFields(log, { user: sub })
  if (asked instanceof Error)
    own.warn(
      { event: 'userinfo_unread', tenant: tenant.id, reason: asked.message },
      'userinfo was left out: the ID token has what a sign-in needs',
    )
  const more = asked instanceof Error ? NO_CLAIMS : asked
  if (!isOfTenant(tenant.oidc, claims, more)) return otherTenant.of({ tenant: tenant.id, user: sub })
  const seats = first.names === null ? readSeatsClaim(more, path) : first
  if (seats.malformed || isDistributed(claims, path))
    own.warn(
      { event: 'seats_claim_unreadable', tenant: tenant.id },
      'the claim that names Seats is not readable',
    )
  return {
    identity: identityOf(sub, claims, more),
    names: seats.names ?? [],
    namesSeats: seats.names !== null,
    providerSid: isOpaqueId(claims.sid) ? claims.sid : null,
  }
}

/** A refresh response may lack an ID token; then userinfo must confirm the same `sub`. */
async function verifiedToken(
  provider: Provider,
  { idToken, accessToken }: ProviderTokens,
  checks: UserChecks,
): Promise<{ sub: string; claims: Claims } | Refusal> {
  if (idToken !== null)
    return verifyIdToken(idToken, provider, { ...checks, source: 'provider', accessToken })
  if (!isSubject(checks.sub) || !(await provider.discovered()).hasUserinfo) return noIdentity
  return { sub: checks.sub, claims: NO_CLAIMS }
}

/**
 * No claims without a userinfo endpoint. A Refusal for a response about another user.
 *
 * @returns the error where userinfo could not be read. Rejects with ProviderError when discovery fails.
 */
async function userinfo(
  provider: Provider,
  accessToken: string,
  sub: string,
): Promise<Claims | Refusal | ProviderError | ProviderRefused> {
  const { configuration, hasUserinfo } = await provider.discovered()
  if (!hasUserinfo) return NO_CLAIMS
  try {
    return await client.fetchUserInfo(configuration, accessToken, sub)
  } catch (cause) {
    return SUBJECT.has(clientErrorCode(cause)) ? otherSub : translateError(cause, 'userinfo')
  }
}
