/**
 * A refresh handle for a new token and a new handle, with Seats mapped afresh from the provider. Called by the endpoint.
 *
 * Each handle is good once. A second use, at the same time or ever after, ends the family: of two who hold one handle
 * one has stolen it, and nobody can tell which. That goes for the honest client too that asks again because the answer
 * was lost: it has to sign in again, which at a provider where the user still has a session shows nothing but a
 * flicker. A time of grace for it would be one for the thief. What it may repeat is a request that was answered 503:
 * then the handle was given back.
 */

import { Refusal } from '../../model/errors.ts'
import { type ProviderQuery, queryProvider } from './query-provider.ts'
import { type Context, refusalOf } from '../context.ts'
import { endSession } from './end-session.ts'
import { handleText, newSecret, parseHandleText, type RefreshHandle, sha256 } from './handle.ts'
import type { SignInResponse } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import type { Renewal, Rotation, StoredSession } from '../../../seats-admin/index.ts'
import { mintFor, type TokenResponse } from '../tokens/token-response.ts'

const invalid = new Refusal(
  'token_invalid',
  'The refresh token is not known here, was used before, or its session is over.',
)
const expired = new Refusal('token_expired', 'The session of the refresh token has expired. Sign in again.')

export async function refresh(context: Context, text: string): Promise<SignInResponse | Refusal> {
  const handle = parseHandleText(text)
  const provider = handle === null ? undefined : context.providers.get(handle.tenant)
  if (handle === null || provider === undefined) return invalid
  const rotating = newSecret()
  const { tenant, id, proof } = handle
  const rotation = await context.sessions.rotate(tenant, id, proof, sha256(rotating), context.now())
  if (rotation.outcome !== 'rotated') return notRotated(context, handle, rotation)
  return renewed(context, provider, handle, rotating, rotation.session)
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
      'a used refresh token came again: its session was ended',
    )
  }
  return invalid
}

/** From here on the old handle is used up, until it is given back. */
async function renewed(
  context: Context,
  provider: Provider,
  handle: RefreshHandle,
  rotating: string,
  session: StoredSession,
): Promise<SignInResponse | Refusal> {
  const asked = await queryProvider(context, provider, session)
  if (asked.outcome === 'refused') return refused(context, handle, asked)
  const next = sha256(rotating)
  const giveBack = (sealed: string | null) =>
    context.sessions.giveBack(handle.tenant, handle.id, next, handle.proof.handle, sealed)
  if (asked.outcome === 'trouble') {
    await giveBack(asked.sealed)
    return refusalOf(context, provider, asked.cause)
  }
  try {
    const tokens = await mintFor(context, provider.tenant, asked.who)
    if (!(tokens instanceof Refusal)) return await answer(context, handle, rotating, asked.renewal, tokens)
    await giveBack(asked.renewal.sealed)
    return tokens
  } catch (cause) {
    // The client gets no handle, so it keeps the one it has.
    await giveBack(asked.renewal.sealed).catch(() => false)
    throw cause
  }
}

async function answer(
  context: Context,
  { tenant, id, family }: RefreshHandle,
  rotating: string,
  renewal: Renewal,
  tokens: (handle: string) => TokenResponse,
): Promise<SignInResponse | Refusal> {
  const committed = await context.sessions.renew(tenant, id, sha256(rotating), renewal)
  // Ended while the provider was asked: by a logout, or by a second use of the handle.
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
