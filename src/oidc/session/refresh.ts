/**
 * Exchanges a refresh handle for a new token and a new handle, with Seats mapped again from the provider.
 *
 * Each handle is valid once. A second use, concurrent or later, ends the family, because one of the two holders has stolen
 * the handle (RFC 9700, section 4.14.2). This includes an honest client that repeats a request after a lost response: it
 * must sign in again. A grace period would serve the thief too. A client may repeat a request after a 503: the handle is
 * restored then.
 */

import { Refusal } from '../../model/errors.ts'
import { type ProviderQuery, queryProvider } from './query-provider.ts'
import { type Context, refusalOf } from '../context.ts'
import { endSession } from './end-session.ts'
import { handleText, newSecret, parseHandleText, type RefreshHandle, sha256 } from './session-credentials.ts'
import type { Reply } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import type { Renewal, Rotation, StoredSession } from '../../../seats-admin/index.ts'
import { mintFor, type TokenResponse } from '../tokens/token-response.ts'

const invalid = new Refusal(
  'token_invalid',
  'The refresh token is unknown, was already used, or its session has ended.',
)
const expired = new Refusal('token_expired', 'The session of the refresh token has expired. Sign in again.')

export async function refresh(context: Context, text: string): Promise<Reply> {
  const handle = parseHandleText(text)
  const provider = handle === null ? undefined : context.providers.get(handle.tenant)
  if (handle === null || provider === undefined) return invalid
  const rotating = newSecret()
  const { tenant, id, proof } = handle
  const rotation = await context.sessions.rotate(tenant, id, proof, sha256(rotating), context.now())
  if (rotation.outcome !== 'rotated') return notRotated(context, handle, rotation)
  return renewFamily(context, provider, handle, rotating, rotation.session)
}

async function notRotated(
  { announce, log }: Context,
  { tenant, id }: RefreshHandle,
  rotation: Exclude<Rotation, { outcome: 'rotated' }>,
): Promise<Refusal> {
  if (rotation.outcome === 'expired') return expired
  if (rotation.outcome === 'replayed') {
    await announce(rotation.committed)
    log.warn(
      { event: 'refresh_replayed', tenant, session: id },
      'a used refresh token was presented again: its session was ended',
    )
  }
  return invalid
}

/** The old handle is used up here; `giveBack` restores it. */
async function renewFamily(
  context: Context,
  provider: Provider,
  handle: RefreshHandle,
  rotating: string,
  session: StoredSession,
): Promise<Reply> {
  const result = await queryProvider(context, provider, session)
  if (result.outcome === 'refused') return refused(context, handle, result)
  const next = sha256(rotating)
  const giveBack = (sealed: string | null) =>
    context.sessions.giveBack(handle.tenant, handle.id, next, handle.proof.handle, sealed)
  if (result.outcome === 'error') {
    await giveBack(result.sealed)
    return refusalOf(context, provider, result.cause)
  }
  try {
    const tokens = await mintFor(context, provider.tenant, result.signedIn)
    if (!(tokens instanceof Refusal)) return await respond(context, handle, rotating, result.renewal, tokens)
    await giveBack(result.renewal.sealed)
    return tokens
  } catch (cause) {
    // The client receives no new handle, so the old one must stay valid.
    await giveBack(result.renewal.sealed).catch(() => false)
    throw cause
  }
}

async function respond(
  context: Context,
  { tenant, id, family }: RefreshHandle,
  rotating: string,
  renewal: Renewal,
  tokens: (handle: string) => TokenResponse,
): Promise<Reply> {
  const committed = await context.sessions.renew(tenant, id, sha256(rotating), renewal)
  // A logout or a second use of the handle ended the session during the provider's query.
  if (committed === null) return invalid
  await context.announce(committed)
  return { status: 200, headers: [], body: tokens(handleText(tenant, id, family, rotating)) }
}

async function refused(
  context: Context,
  { tenant, id }: RefreshHandle,
  { reason, refusal }: Extract<ProviderQuery, { outcome: 'refused' }>,
): Promise<Refusal> {
  await endSession(context, tenant, id)
  context.log.info(
    { event: 'session_ended', tenant, session: id, reason },
    'the identity provider ended a session',
  )
  return refusal
}
