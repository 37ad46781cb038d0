/**
 * The provider's answer → who it is, and which Seats they are to have. The ID token is verified here; userinfo is asked
 * for what it lacks. Called at sign-in and at every mapping afresh.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import type { Claims } from './compact-jws.ts'
import { type IdTokenChecks, verifyIdToken } from './id-token.ts'
import { type Identity, identityOf } from './identity.ts'
import type { OidcLog } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import { isDistributed, readSeatsClaim } from './seats-claim.ts'
import { isOfTenant, lacksTenant, otherTenant } from './tenant-claim.ts'
import type { ProviderAnswer } from '../provider/token-endpoint.ts'
import { translateError } from '../provider/openid-client-errors.ts'

export interface SignedInUser {
  readonly identity: Identity
  /** Seat names, as the provider spells them. */
  readonly names: readonly string[]
}

export type UserChecks = Pick<IdTokenChecks, 'now' | 'nonce' | 'nonceOptional' | 'sub'>

const NOTHING: Claims = Object.freeze({})
const nobody = new Refusal('token_invalid', 'The identity provider did not say who signed in.')

/** Rejects as the asking of the provider does. */
export async function readUser(
  provider: Provider,
  answer: ProviderAnswer,
  checks: UserChecks,
  log: OidcLog,
): Promise<SignedInUser | Refusal> {
  const token = await believed(provider, answer, checks)
  if (token instanceof Refusal) return token
  const { tenant } = provider
  const path = tenant.oidc.seatsClaim
  const { sub, claims } = token
  const first = readSeatsClaim(claims, path)
  const lacking =
    first.names === null ||
    lacksTenant(claims, tenant.oidc) ||
    (claims.email === undefined && tenant.oidc.scopes.includes('email'))
  const more = lacking ? await userinfo(provider, answer.accessToken, sub) : NOTHING
  if (!isOfTenant(tenant.oidc, claims, more)) return otherTenant
  const seats = first.names === null ? readSeatsClaim(more, path) : first
  if (seats.malformed || isDistributed(claims, path))
    log.warn(
      { event: 'seats_claim_unreadable', tenant: tenant.id },
      'the claim that names Seats can not be read',
    )
  return { identity: identityOf(sub, claims, more), names: seats.names ?? [] }
}

/** At a refresh a provider need not send an ID token; then userinfo alone says who it is, and it must be the same. */
async function believed(
  provider: Provider,
  { idToken, accessToken }: ProviderAnswer,
  checks: UserChecks,
): Promise<{ sub: string; claims: Claims } | Refusal> {
  if (idToken !== null)
    return verifyIdToken(idToken, provider, { ...checks, source: 'provider', accessToken })
  if (checks.sub === null || !(await provider.discovered()).hasUserinfo) return nobody
  return { sub: checks.sub, claims: NOTHING }
}

/** Nothing where the provider has none. Rejects when it is about somebody else. */
async function userinfo(provider: Provider, accessToken: string, sub: string): Promise<Claims> {
  const { configuration, hasUserinfo } = await provider.discovered()
  if (!hasUserinfo) return NOTHING
  try {
    return await client.fetchUserInfo(configuration, accessToken, sub)
  } catch (cause) {
    throw translateError(cause, 'userinfo')
  }
}
