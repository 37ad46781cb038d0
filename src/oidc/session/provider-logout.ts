/**
 * Logouts at the provider: which sessions they end, and how a pending sign-in learns of them.
 *
 * A sign-in that began before the logout may complete after it, with a code from before. The order of steps
 * excludes that its session survives: the logout is first recorded, then sessions end; a sign-in first
 * creates its session, then looks for the record. Either the logout sees the session, or the sign-in sees the
 * record.
 */

import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import {
  type ListedSession,
  type LogoutSubject,
  type StoredSession,
  userDigest,
} from '../../../seats-admin/index.ts'
import type { OidcTenant } from '../ports.ts'
import { endForProvider, providerAuthor } from './end-session.ts'
import { sha256 } from './session-credentials.ts'
import { LEEWAY } from '../provider/provider.ts'

/** The most sessions that one transaction ends. */
const BATCH = 500

const loggedOut = new Refusal(
  'token_invalid',
  'The user was logged out at the identity provider during this sign-in. Start again.',
)

export interface ProviderLogout {
  readonly subject: LogoutSubject
  /** See {@link tokenDigest}. */
  readonly token: Uint8Array
}

export function providerSessionDigest(issuer: string, sid: string): Uint8Array {
  return digest('sid', issuer, sid)
}

export function tokenDigest(issuer: string, clientId: string, jti: string): Uint8Array {
  return digest('jti', issuer, clientId, jti)
}

function digest(...parts: readonly string[]): Uint8Array {
  return sha256(JSON.stringify(parts))
}

function digestOf(subject: LogoutSubject): Uint8Array {
  return 'user' in subject ? userDigest(subject.user) : subject.providerSession
}

/**
 * Ends the tenant's sessions of the logout on all instances. The token is recorded last, so that it can be
 * sent again after a fault.
 *
 * @returns the sessions that ended; null if the token was used before. Rejects if the store is
 *   unavailable.
 */
export async function endByProvider(
  context: Context,
  tenant: OidcTenant,
  { subject, token }: ProviderLogout,
): Promise<ListedSession[] | null> {
  const { sessions, announce, now } = context
  const { id } = tenant
  if (await sessions.loggedOutSince(id, { digest: token, since: 0 })) return null
  await sessions.recordLogout(id, digestOf(subject), now())
  const ended: ListedSession[] = []
  for (;;) {
    const some = await sessions.endSome(providerAuthor(context, tenant), subject, BATCH)
    // Without sessions too: a call that failed may have ended some, and not announced it.
    await announce(some)
    if (some.value.length === 0) break
    ended.push(...some.value)
  }
  return (await sessions.recordToken(id, token, now())) ? ended : null
}

/**
 * Ends a session that was just created, if the provider's session or the user was logged out since the
 * sign-in began. Clocks of instances may differ; a session at the provider that has ended is not used again,
 * so the leeway harms no one.
 */
export async function endIfLoggedOut(
  context: Context,
  provider: OidcTenant,
  { tenant, id, user, providerSession }: StoredSession,
  startedAt: number,
): Promise<Refusal | null> {
  const { sessions } = context
  const ofUser = { digest: digestOf({ user }), since: startedAt }
  const ofSession =
    providerSession === null ? null : { digest: providerSession, since: startedAt - LEEWAY * 1000 }
  if (!(await sessions.loggedOutSince(tenant, ofUser, ofSession))) return null
  await endForProvider(context, provider, id)
  return loggedOut
}
