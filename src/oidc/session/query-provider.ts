/** Queries the provider about a signed-in user with the refresh token, and maps the Seats again. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import { recordMember } from '../tokens/scim-member.ts'
import { seatsOf } from '../tokens/seat-mapping.ts'
import { endForProvider } from './end-session.ts'
import { type ProviderGrant, openProviderGrant, sealProviderGrant, type SignedIn } from './open-session.ts'
import { readUser, type SignedInUser } from '../tokens/signed-in-user.ts'
import type { Provider } from '../provider/provider.ts'
import type { Renewal, StoredSession } from '../../../seats-admin/index.ts'
import { endedByProvider, sessionEnded } from './session-authentication.ts'
import { redeemRefreshToken } from '../provider/token-endpoint.ts'
import { ProviderError, ProviderRefused } from '../provider/provider-errors.ts'

export interface Renewed {
  readonly signedIn: SignedIn
  readonly renewal: Renewal
}

/**
 * Unknown: the session stays as it was, with `sealed` if the provider has already replaced its refresh token.
 */
export interface Failed {
  readonly cause: unknown
  readonly sealed: string | null
}

/** The provider or its response ends the session. */
interface Ended {
  readonly refusal: Refusal
  readonly reason: string
}

/**
 * @param context {@link about} the session
 * @returns a Refusal when the session was ended. Rejects if the store is unavailable.
 */
export async function queryProvider(
  context: Context,
  provider: Provider,
  session: StoredSession,
): Promise<Renewed | Failed | Refusal> {
  const result = await query(context, provider, session)
  if (!('reason' in result)) return result
  const { tenant, id } = session
  await endForProvider(context, provider.tenant, id)
  context.log.info(
    { event: 'session_ended', tenant, reason: result.reason },
    'the identity provider ended a session',
  )
  return result.refusal
}

/** Never rejects. */
async function query(
  context: Context,
  provider: Provider,
  session: StoredSession,
): Promise<Renewed | Failed | Ended> {
  const { tenant } = provider
  const grant = openProviderGrant(session, tenant)
  if (grant === null || grant.refreshToken === null)
    return { refusal: sessionEnded(session), reason: 'the session has no refresh token' }
  let sealed: string | null = null
  try {
    const tokens = await redeemRefreshToken(provider, grant.refreshToken)
    // Without a new refresh token the old one stays valid (RFC 6749, section 6).
    const refreshToken = tokens.refreshToken ?? grant.refreshToken
    const providerGrant = { ...grant, refreshToken }
    sealed = sealProviderGrant(providerGrant, tenant, session.id)
    const checks = { now: context.now(), nonce: grant.nonce, nonceOptional: true, sub: session.user }
    const user = await readUser(provider, tokens, checks, context.log)
    if (user instanceof Refusal) return { refusal: sessionEnded(session), reason: user.detail }
    // A session from before a claim said who the user is: from now on a deactivation by SCIM finds it.
    const member = session.member ?? null
    const refused = member === null ? await recordMember(context, tenant, session.user, user.member) : null
    if (refused !== null) return { refusal: sessionEnded(session), reason: refused.detail }
    const idToken = user.idToken ?? grant.idToken
    if (!user.namesSeats && !user.areLeftOut && session.hashPerm.length > 0)
      context.log.warn(
        { event: 'seats_claim_missing', tenant: tenant.id },
        `the identity provider sent no claim ${tenant.oidc.seatsClaim}: the session has no Seats now`,
      )
    return await mapSeatsAgain(context, provider, session, user, { ...providerGrant, idToken })
  } catch (cause) {
    if (cause instanceof ProviderRefused) return { refusal: endedByProvider, reason: cause.message }
    return { cause, sealed }
  }
}

async function mapSeatsAgain(
  context: Context,
  { tenant }: Provider,
  session: StoredSession,
  { identity, names, areLeftOut: areGroupsLeftOut }: SignedInUser,
  providerGrant: ProviderGrant,
): Promise<Renewed> {
  await laterSecond(session.voidUntil, context.now)
  // Taken before the Seats are looked up, as at sign-in.
  const issuedAt = Math.floor(context.now() / 1000)
  const seats = await seatsOf(context, tenant, session.user, { names, member: session.member ?? null })
  // Claims that a refresh omits have not changed.
  const current = { ...identity, email: identity.email ?? session.email, name: identity.name ?? session.name }
  await context.seats.recordSignIn(tenant.id, { ...current, at: context.now(), areGroupsLeftOut }, seats.ids)
  const renewal = {
    email: current.email,
    name: current.name,
    hashPerm: seats.hashPerm,
    issuedAt,
    renewAt: issuedAt * 1000 + tenant.token.lifetime,
    sealed: sealProviderGrant(providerGrant, tenant, session.id),
    voidUntil: session.voidUntil,
  }
  return { signedIn: { identity: current, seats, providerGrant, issuedAt }, renewal }
}

/** Milliseconds that a new token waits for its second. */
const MOST_WAIT = 2000

/**
 * Waits for a second after this one, in which a new token is not void. Rejects with ProviderError if the
 * clock of this instance is behind the one of the instance that voided tokens.
 *
 * @param until ms since the epoch; 0: no tokens are void
 */
async function laterSecond(until: number, now: () => number): Promise<void> {
  const wait = (Math.floor(until / 1000) + 1) * 1000 - now()
  if (wait <= 0) return
  if (wait > MOST_WAIT) throw new ProviderError('the clock of this instance is behind that of another one')
  await sleep(wait)
}
