/**
 * Asks the provider about a user who signed in before: its refresh token, and Seats mapped afresh from what it says.
 */

import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import { mapSeats } from '../tokens/seat-mapping.ts'
import { type ProviderGrant, openProviderGrant, sealProviderGrant, type SignedIn } from './open-session.ts'
import { readUser } from '../tokens/signed-in-user.ts'
import type { Provider } from '../provider/provider.ts'
import type { Renewal, StoredSession } from '../../../seats-admin/index.ts'
import { endedByProvider, sessionEnded } from './session-refusals.ts'
import { redeemRefreshToken } from '../provider/token-endpoint.ts'
import { ProviderRefused, TokenRefused } from '../provider/openid-client-errors.ts'

/**
 * - `refused`: the provider, or what it sent, says that this session is over; `refusal` is the client's answer
 * - `trouble`: nobody knows; the session is to be kept as it was, and with `sealed` where the provider has replaced its
 *   refresh token already
 */
export type ProviderQuery =
  | { readonly outcome: 'renewed'; readonly who: SignedIn; readonly renewal: Renewal }
  | { readonly outcome: 'refused'; readonly reason: string; readonly refusal: Refusal }
  | { readonly outcome: 'trouble'; readonly cause: unknown; readonly sealed: string | null }

/** Never rejects. */
export async function queryProvider(
  context: Context,
  provider: Provider,
  session: StoredSession,
): Promise<ProviderQuery> {
  const { tenant } = provider
  const kept = openProviderGrant(session, tenant)
  if (kept === null || kept.refreshToken === null) return refused(sessionEnded, 'no refresh token is kept')
  let sealed: string | null = null
  try {
    const answer = await redeemRefreshToken(provider, kept.refreshToken)
    // A provider that sends no new one goes on taking the old one (RFC 6749, section 6).
    const refreshToken = answer.refreshToken ?? kept.refreshToken
    const providerGrant = { ...kept, refreshToken }
    sealed = sealProviderGrant(providerGrant, tenant, session.id)
    const checks = { now: context.now(), nonce: kept.nonce, nonceOptional: true, sub: session.user }
    const user = await readUser(provider, answer, checks, context.log)
    if (user instanceof Refusal) return refused(sessionEnded, user.detail)
    const idToken = answer.idToken ?? kept.idToken
    return await mapped(context, provider, session, user, { ...providerGrant, idToken })
  } catch (cause) {
    if (cause instanceof ProviderRefused) return refused(endedByProvider, cause.message)
    if (cause instanceof TokenRefused) return refused(sessionEnded, cause.message)
    return { outcome: 'trouble', cause, sealed }
  }
}

function refused(refusal: Refusal, reason: string): ProviderQuery {
  return { outcome: 'refused', reason, refusal }
}

async function mapped(
  context: Context,
  { tenant }: Provider,
  session: StoredSession,
  { identity, names }: { identity: SignedIn['identity']; names: readonly string[] },
  providerGrant: ProviderGrant,
): Promise<ProviderQuery> {
  // Before the Seats are looked up, as at the first sign-in.
  const issuedAt = Math.floor(context.now() / 1000)
  const seats = await mapSeats(context, tenant.id, names)
  await context.seats.recordMember(tenant.id, identity.sub, seats.ids)
  // What a refreshed answer leaves out has not changed.
  const known = { ...identity, email: identity.email ?? session.email, name: identity.name ?? session.name }
  const renewal = {
    email: known.email,
    name: known.name,
    hashPerm: seats.hashPerm,
    issuedAt,
    renewAt: issuedAt * 1000 + tenant.token.lifetime,
    sealed: sealProviderGrant(providerGrant, tenant, session.id),
  }
  return { outcome: 'renewed', who: { identity: known, seats, providerGrant, issuedAt }, renewal }
}
