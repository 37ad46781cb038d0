/**
 * Exchanges a refresh handle for a new token and a new handle, with Seats mapped again from the provider.
 *
 * Each handle is valid once. A second use, concurrent or later, ends the family, because one of the two
 * holders has stolen the handle (RFC 9700, section 4.14.2). This includes an honest client that repeats a
 * request after a lost response: it must sign in again. A grace period would serve the thief too. A client
 * may repeat a request after a 503: the handle is restored then.
 */

import { Refusal } from '../../model/errors.ts'
import { providerAuthor } from './end-session.ts'
import { queryProvider } from './query-provider.ts'
import { about, type Context, providerRefusal } from '../context.ts'
import { handleText, newSecret, parseHandleText, type RefreshHandle, sha256 } from './session-credentials.ts'
import { refreshFields } from '../sign-in-endpoints.ts'
import type { Reply } from '../ports.ts'
import { sessionRevoked } from '../../model/revoked.ts'
import type { PublicRequest } from '../../model/route.ts'
import { readFields } from '../sign-in/body.ts'
import type { Provider } from '../provider/provider.ts'
import { providerUnavailable } from '../provider/provider-errors.ts'
import type { Rotation, StoredSession } from '../../../seats-admin/index.ts'
import { mintFor } from '../tokens/token-response.ts'
import { blockedUser } from './session-authentication.ts'

const invalid = new Refusal(
  'token_invalid',
  'The refresh token is unknown, was already used, or its session has ended.',
)
const expired = new Refusal('token_expired', 'The session of the refresh token has expired. Sign in again.')

export async function refresh(context: Context, request: PublicRequest): Promise<Reply> {
  const fields = readFields(request, refreshFields)
  if (fields instanceof Refusal) return fields
  const handle = parseHandleText(fields.get('refresh_token') ?? '')
  const provider = handle === null ? undefined : context.providers.get(handle.tenant)
  if (handle === null || provider === undefined) return invalid
  const rotating = newSecret()
  const { id, proof } = handle
  const author = providerAuthor(context, provider.tenant)
  const rotation = await context.sessions.rotate(author, id, proof, sha256(rotating))
  if (rotation.outcome !== 'rotated') return notRotated(context, handle, rotation)
  const { session } = rotation
  const own = about(context, { user: session.user, session: id })
  const reply = await renewFamily(own, provider, handle, rotating, session)
  return reply instanceof Refusal ? reply.of(session) : reply
}

async function notRotated(
  { announce, log }: Context,
  { tenant, id }: RefreshHandle,
  rotation: Exclude<Rotation, { outcome: 'rotated' }>,
): Promise<Refusal> {
  if (rotation.outcome === 'expired') return expired
  if (rotation.outcome === 'revoked') return sessionRevoked
  if (rotation.outcome !== 'replayed') return invalid
  const { committed, user } = rotation
  await announce(committed)
  log.warn(
    { event: 'refresh_replayed', tenant, user, session: id },
    'a used refresh token was presented again: its session was ended',
  )
  return invalid.of({ tenant, user })
}

/** The old handle is used up here; `giveBack` restores it. */
async function renewFamily(
  context: Context,
  provider: Provider,
  { tenant, id, family, proof }: RefreshHandle,
  rotating: string,
  session: StoredSession,
): Promise<Reply> {
  const { sessions } = context
  const next = sha256(rotating)
  const giveBack = (sealed: string | null) => sessions.giveBack(tenant, id, next, proof.handle, sealed)
  if (await context.isBlocked(tenant, session.user)) {
    // When the block ends, the user does not have to sign in again.
    await giveBack(null)
    return blockedUser
  }
  const result = await queryProvider(context, provider, session)
  if (result instanceof Refusal) return result
  if ('cause' in result) {
    await giveBack(result.sealed)
    return providerRefusal(context, provider, result.cause)
  }
  const { signedIn, renewal } = result
  try {
    const tokens = await mintFor(context, provider.tenant, signedIn, session)
    if (tokens instanceof Refusal) {
      await giveBack(renewal.sealed)
      return tokens
    }
    const committed = await sessions.renew(tenant, id, next, renewal)
    // A logout, a revocation or a second use of the handle ended the session during the provider's query.
    if (committed === null) {
      const current = await sessions.sessionById(tenant, id)
      // The provider was asked before its claims changed.
      const isOld = current?.voidUntil !== renewal.voidUntil && (await giveBack(renewal.sealed))
      if (isOld) return providerUnavailable
      return current?.revoked ? sessionRevoked : invalid
    }
    await context.announce(committed)
    return { status: 200, headers: [], body: tokens(handleText(tenant, id, family, rotating)) }
  } catch (cause) {
    // The client receives no new handle, so the old one must stay valid.
    await giveBack(renewal.sealed).catch(() => false)
    throw cause
  }
}
