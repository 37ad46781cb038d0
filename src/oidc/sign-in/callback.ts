/**
 * The authorization response (OpenID Connect Core 1.0, section 3.1.2.5). The checks run in this order, so that an unrelated
 * response causes no request to the provider: state and its cookie, path, `iss`, `error`, `code`, first use. Then the code
 * is redeemed and the ID token verified.
 */

import { Refusal } from '../../model/errors.ts'
import { checkResponse, inputInvalid, notSignedIn, repeatedParameter } from './callback-checks.ts'
import { headerLines, isNavigation } from './browser.ts'
import { withProviderErrors, type Context, logRefusal } from '../context.ts'
import { endSession, sessionOfCookie } from '../session/end-session.ts'
import { mapSeats } from '../tokens/seat-mapping.ts'
import { openBrowserSession, openFamily, type SignedIn } from '../session/open-session.ts'
import { asPage } from './page.ts'
import { readUser } from '../tokens/signed-in-user.ts'
import type { Reply } from '../ports.ts'
import type { PublicRequest, PublicResponse } from '../../model/route.ts'
import { callbackAtCanonicalHost, redirectTo, canonicalAddress, signedInAlready } from './redirect.ts'
import { clearSignInCookie, type PendingSignIn, readState, markUsed } from './state.ts'
import { redeemCode } from '../provider/token-endpoint.ts'
import { mintFor } from '../tokens/token-response.ts'

const notStarted = inputInvalid(
  '/state',
  'This browser has no pending sign-in: it was already completed, or was started in another browser. ' +
    'Continue if you are signed in, otherwise start again.',
)
const expired = inputInvalid('/state', 'This sign-in took more than ten minutes. Start again.')
const used = inputInvalid(
  '/state',
  'This sign-in was already completed. Continue if you are signed in, otherwise start again.',
)
/** For the page: the user has most likely cancelled at the provider. */
const cancelled = 'The sign-in was cancelled, or the identity provider did not allow it.'

/** The parts of a callback request. */
interface CallbackRequest {
  readonly request: PublicRequest
  readonly query: URLSearchParams
  /** The values of all Cookie header lines. */
  readonly cookies: readonly string[]
}

export async function callback(context: Context, request: PublicRequest): Promise<Reply> {
  const query = new URLSearchParams(request.query)
  const cookies = headerLines(request.rawHeaders, 'cookie')
  const pending = readState(context, query.get('state') ?? '', cookies)
  const reply = await respond(context, { request, query, cookies }, pending)
  if (!(reply instanceof Refusal) || !isNavigation(request.method, request.rawHeaders)) return reply
  const again = pending === null ? '/' : canonicalAddress(pending.provider, pending.returnTo)
  return asPage(reply, again, reply === notSignedIn ? cancelled : reply.detail)
}

async function respond(
  context: Context,
  callbackRequest: CallbackRequest,
  pending: PendingSignIn | null,
): Promise<Reply> {
  const { request, query, cookies } = callbackRequest
  const duplicate = repeatedParameter(query)
  if (duplicate !== null) return duplicate
  if (pending === null) return callbackAtCanonicalHost(context, request) ?? notStarted
  if (new URL(pending.provider.tenant.oidc.redirectUri).pathname !== request.path) return notStarted
  if (pending.expired) return (await signedInAlready(context, pending, request, cookies)) ?? expired
  return withProviderErrors(context, pending.provider, () => finish(context, callbackRequest, pending))
}

async function finish(
  context: Context,
  callbackRequest: CallbackRequest,
  pending: PendingSignIn,
): Promise<Reply> {
  const { request, query, cookies } = callbackRequest
  const refusal = await checkResponse(context, pending.provider, query)
  if (refusal !== null) return refusal
  const first = await markUsed(context, pending)
  if (first instanceof Refusal) return first
  if (!first) return (await signedInAlready(context, pending, request, cookies)) ?? used
  const signedIn = await signIn(context, pending, query)
  if (signedIn instanceof Refusal) return signedIn
  return pending.returnTo === null
    ? respondToProgram(context, pending, signedIn)
    : respondToBrowser(context, pending, signedIn, cookies)
}

async function signIn(
  context: Context,
  pending: PendingSignIn,
  query: URLSearchParams,
): Promise<SignedIn | Refusal> {
  const { provider, nonce } = pending
  const { id } = provider.tenant
  const tokens = await redeemCode(provider, query, pending)
  const now = context.now()
  const user = await readUser(provider, tokens, { now, nonce, sub: null }, context.log)
  if (user instanceof Refusal) return logRefusal(context.log, id, user)
  // Taken before the Seats are looked up: a name given up after that also loses this sign-in.
  const issuedAt = Math.floor(context.now() / 1000)
  const seats = await mapSeats(context, id, user.names)
  await context.seats.recordMember(id, user.identity.sub, seats.ids)
  const { refreshToken, idToken } = tokens
  const { identity } = user
  context.log.info(
    { event: 'signed_in', tenant: id, user: identity.sub, seats: seats.ids.length },
    'signed in',
  )
  return { identity, seats, providerGrant: { refreshToken, idToken, nonce }, issuedAt }
}

async function respondToProgram(
  context: Context,
  pending: PendingSignIn,
  signedIn: SignedIn,
): Promise<Reply> {
  const { tenant } = pending.provider
  const tokens = await mintFor(context, tenant, signedIn)
  if (tokens instanceof Refusal) return tokens
  const handle =
    signedIn.providerGrant.refreshToken === null ? null : await openFamily(context, tenant, signedIn)
  return { status: 200, headers: ['Set-Cookie', clearSignInCookie(pending.state)], body: tokens(handle) }
}

/**
 * Always opens a new session with a new secret, and ends the browser's former session of the same tenant (session
 * fixation). A session of another tenant stays: a sign-in must not affect other tenants.
 */
async function respondToBrowser(
  context: Context,
  pending: PendingSignIn,
  signedIn: SignedIn,
  cookies: readonly string[],
): Promise<PublicResponse> {
  const { provider } = pending
  const before = await sessionOfCookie(context, cookies)
  if (before !== null && before.tenant === provider.tenant.id)
    await endSession(context, before.tenant, before.id)
  const cookie = await openBrowserSession(context, provider.tenant, signedIn)
  return redirectTo(canonicalAddress(provider, pending.returnTo), [cookie, clearSignInCookie(pending.state)])
}
