/**
 * Revocations and blocks by an identity provider, with the answer that it may be given: that a change is
 * closed, or that it must repeat its request.
 */

import {
  isRefusal,
  isTokenState,
  type RevocationInput,
  TOLD_WITHIN,
  userDigest,
  type Writer,
} from '../../../seats-admin/index.ts'
import { Refusal } from '../../model/errors.ts'
import { isSubject } from '../tokens/id-token.ts'
import type { Context } from '../context.ts'
import type { OidcTenant } from '../ports.ts'
import { ProviderError, providerUnavailable } from '../provider/provider-errors.ts'
import type { UserIdentifier } from './subject-identifier.ts'

/** The most users of one address. An address of more is taken for a shared mailbox, and refused. */
export const MOST_USERS = 100

/** What has become of a request: its revocations by their ids, or it took effect before. */
export type Effect = { readonly revocations: readonly string[] } | 'used'

export const pending = new Refusal(
  'unavailable',
  'The same request took effect a moment ago, and it is not known yet whether everywhere.',
  { retryAfter: TOLD_WITHIN },
)

const notClosed = new Refusal(
  'unavailable',
  'The change is made, and an instance has not said that it has cut what was open. Send the request again.',
  { retryAfter: TOLD_WITHIN },
)

/**
 * The users of the tenant that the identifier names. An email address names all users to whom the provider
 * gave it. A user who is not known is none, unless the tenant accepts tokens of the provider, whose users
 * need not sign in. An opaque id is the `sub`, or else the id of a user of SCIM.
 */
export async function usersOf(
  { signals }: Context,
  { id: tenant, oidc, scim }: OidcTenant,
  subject: UserIdentifier,
): Promise<readonly string[]> {
  if (subject.format === 'email') return signals.usersByEmail(tenant, subject.email, MOST_USERS + 1)
  const sub = subject.format === 'opaque' ? subject.id : subject.sub
  if (!isSubject(sub)) return []
  const isAccepted = subject.format === 'iss_sub' && oidc.acceptProviderTokens
  if (isAccepted || (await signals.isKnownUser(tenant, sub))) return [sub]
  return subject.format === 'opaque' && scim != null ? signals.usersOfScimId(tenant, scim.user.mode, sub) : []
}

/**
 * Makes the revocations, of which the token is used up once each is closed. Rejects if the store is
 * unavailable.
 *
 * @param token the digest of the token
 * @param saidAt of events about the account of a user, as the store orders them
 */
export async function revokeAll(
  { signals, sessions, now }: Context,
  author: Writer,
  inputs: readonly RevocationInput[],
  token: Uint8Array,
  saidAt?: number,
): Promise<Effect | Refusal> {
  const order = saidAt === undefined ? {} : { saidAt }
  const revocations: string[] = []
  let isClosed = true
  for (const [at, input] of inputs.entries()) {
    const { subject } = input
    const logout = 'user' in subject ? userDigest(subject.user) : null
    const request = { token: at === 0 ? token : null, logout, ...order }
    const written = await signals.revokeForProvider(author, input, request)
    if (isTokenState(written)) return written.token === 'used' ? 'used' : pending
    // A session may be gone since it was looked for.
    if (isRefusal(written) && written.refused === 'session_not_found') continue
    if (isRefusal(written)) return new Refusal('unavailable', written.detail, { retryAfter: TOLD_WITHIN })
    const { id, state } = await signals.answer(written)
    revocations.push(id)
    isClosed &&= state === 'closed'
  }
  if (!isClosed) return notClosed
  await sessions.recordToken(author.tenant, token, now())
  return { revocations }
}

/** The keys of the provider can't be read: nothing is known of the token. */
export function outage({ log }: Context) {
  return (cause: unknown): Refusal => {
    if (!(cause instanceof ProviderError)) throw cause
    log.warn(
      { event: 'signal_keys_unavailable', reason: cause.message },
      'keys of a provider are unavailable',
    )
    return providerUnavailable
  }
}
