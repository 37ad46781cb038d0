/**
 * The authorization response (OpenID Connect Core 1.0, section 3.1.2.5). The checks run in this order, so
 * that an unrelated response causes no request to the provider: state and its cookie, path, `iss`, `error`,
 * `code`, first use. Then the code is redeemed and the ID token verified.
 */

import { Refusal } from '../../model/errors.ts'
import { invalid } from './body.ts'
import { headerLines, isNavigation } from './browser.ts'
import { about, withProviderErrors, type Context, logRefusal } from '../context.ts'
import { callbackParameters } from '../sign-in-endpoints.ts'
import { blockedUser } from '../session/session-authentication.ts'
import { endSession, sessionOfCookie } from '../session/end-session.ts'
import { seatsOf } from '../tokens/seat-mapping.ts'
import { recordMember } from '../tokens/scim-member.ts'
import { newSessionId } from '../session/session-credentials.ts'
import { newSession, type NewSignIn, openBrowserSession, openFamily } from '../session/open-session.ts'
import { asPage } from './refusal-page.ts'
import { readUser } from '../tokens/signed-in-user.ts'
import type { Reply } from '../ports.ts'
import type { PublicRequest, PublicResponse } from '../../model/route.ts'
import { callbackAtCanonicalHost, redirectTo, canonicalAddress, signedInAlready } from './canonical-host.ts'
import { clearSignInCookie, type PendingSignIn, readState, markUsed } from './state.ts'
import { redeemCode } from '../provider/token-endpoint.ts'
import { requestAdvice, scopeAdvice } from '../provider/client-auth.ts'
import { providerUnavailable } from '../provider/provider-errors.ts'
import { sanitize, sanitizeErrorCode, sanitizeName } from '../provider/log-text.ts'
import type { Provider } from '../provider/provider.ts'
import { mintFor } from '../tokens/token-response.ts'

const otherIssuer = inputInvalid(
  '/iss',
  'The response is from a different identity provider. Start the sign-in again.',
)
const noCode = inputInvalid('/code', 'The response has no code.')
/** Parameters of other flows (OAuth 2.0 Multiple Response Types; JARM), which the gateway never requests. */
const OTHER_FLOWS = ['response', 'id_token', 'token', 'token_type', 'access_token']
const notSignedIn = new Refusal('credentials_missing', 'The identity provider did not sign the user in.')
const notStarted = inputInvalid(
  '/state',
  'This browser has no pending sign-in: it was already completed, took more than ten minutes, or was started in another browser. ' +
    'Continue if you are signed in, otherwise start again.',
)
const expired = inputInvalid('/state', 'This sign-in took more than ten minutes. Start again.')
const used = inputInvalid(
  '/state',
  'This sign-in was already completed. Continue if you are signed in, otherwise start again.',
)
/**
 * The refusal that a user cannot avoid: an operator must correct the client, or what the provider requires of
 * it.
 */
const refusedRequest = new Refusal(
  'credentials_missing',
  'The identity provider refused the request of this gateway. Its log has the reason, and what to do.',
)
/**
 * Errors of such requests (RFC 6749, sections 4.1.2.1 and 5.2; OpenID Connect Core 1.0, section 3.1.2.6; RFC
 * 8707).
 */
const ABOUT_REQUEST =
  /^(?:invalid_(?:request|scope|client|target)|invalid_request_(?:uri|object)|unauthorized_client|unsupported_response_type|(?:request|request_uri|registration)_not_supported)$/
/** The text of the page if the user has most likely cancelled at the provider. */
const cancelled = 'The sign-in was cancelled, or the identity provider did not allow it.'

export async function callback(context: Context, request: PublicRequest): Promise<Reply> {
  const query = new URLSearchParams(request.query)
  const pending = readState(context, query.get('state') ?? '', headerLines(request.rawHeaders, 'cookie'))
  const reply = await respond(context, request, query, pending)
  if (!(reply instanceof Refusal) || !isNavigation(request.method, request.rawHeaders)) return reply
  const again = pending === null ? '/' : canonicalAddress(pending.provider, pending.returnTo)
  return asPage(reply, again, reply === notSignedIn ? cancelled : reply.detail)
}

async function respond(
  context: Context,
  request: PublicRequest,
  query: URLSearchParams,
  pending: PendingSignIn | null,
): Promise<Reply> {
  const duplicate = Object.keys(callbackParameters).find((name) => query.getAll(name).length > 1)
  if (duplicate !== undefined) return inputInvalid(`/${duplicate}`, 'must not occur more than once')
  if (pending === null) return callbackAtCanonicalHost(context, request) ?? notStarted
  const { pathname } = new URL(pending.provider.tenant.oidc.redirectUri)
  // The redirect URI has the prefix, and the path of the request comes without it.
  if (pathname !== context.prefix + request.path) return notStarted
  if (pending.expired) return (await signedInAlready(context, pending, request)) ?? expired
  return withProviderErrors(context, pending.provider, () => finish(context, request, query, pending))
}

async function finish(
  context: Context,
  request: PublicRequest,
  query: URLSearchParams,
  pending: PendingSignIn,
): Promise<Reply> {
  const refusal = await checkResponse(context, pending.provider, query)
  if (refusal !== null) return refusal
  const first = await markUsed(context, pending)
  if (first instanceof Refusal) return first
  if (!first) return (await signedInAlready(context, pending, request)) ?? used
  const signedIn = await signIn(context, pending, query)
  if (signedIn instanceof Refusal) return signedIn
  const own = about(context, { user: signedIn.identity.sub, session: signedIn.session })
  const reply = await (pending.returnTo === null
    ? respondToProgram(own, pending, signedIn)
    : respondToBrowser(own, pending, signedIn, request))
  const caller = { tenant: pending.provider.tenant.id, user: signedIn.identity.sub }
  return reply instanceof Refusal ? reply.of(caller) : reply
}

async function signIn(
  context: Context,
  pending: PendingSignIn,
  query: URLSearchParams,
): Promise<NewSignIn | Refusal> {
  const { provider, nonce, startedAt } = pending
  const { id } = provider.tenant
  const tokens = await redeemCode(provider, query, pending)
  const now = context.now()
  const user = await readUser(provider, tokens, { now, nonce, sub: null }, context.log)
  if (user instanceof Refusal) return logRefusal(context.log, id, user)
  const { sub } = user.identity
  if (await context.isBlocked(id, sub)) return refuseBlocked(context, id, sub)
  const unknown = await recordMember(context, provider.tenant, sub, user.member)
  if (unknown !== null) return logRefusal(context.log, id, unknown)
  // Taken before the Seats are looked up: a name given up after that also loses this sign-in.
  const issuedAt = Math.floor(context.now() / 1000)
  const { identity, idToken, member, providerSid } = user
  const session = newSessionId()
  const own = about(context, { user: identity.sub, session })
  const seats = await seatsOf(own, provider.tenant, sub, user)
  const { areLeftOut: areGroupsLeftOut } = user
  await context.seats.recordSignIn(id, { ...identity, at: context.now(), areGroupsLeftOut }, seats.ids)
  const { refreshToken } = tokens
  own.log.info({ event: 'signed_in', tenant: id, seats: seats.ids.length }, 'signed in')
  return {
    identity,
    session,
    seats,
    providerGrant: { refreshToken, idToken, nonce },
    issuedAt,
    startedAt,
    providerSid,
    member,
  }
}

/**
 * Refuses a blocked user, without a session, a token and a record of the user: each request would be refused.
 */
function refuseBlocked({ log }: Context, tenant: string, user: string): Refusal {
  log.info(
    {
      event: 'sign_in_failed',
      tenant,
      user,
      reason: 'an administrator or the provider has blocked the user',
    },
    'a blocked user did not sign in',
  )
  return blockedUser.of({ tenant, user })
}

/**
 * Answers a program. The token has a session even without a refresh token, so that a logout ends it early.
 */
async function respondToProgram(
  context: Context,
  pending: PendingSignIn,
  signedIn: NewSignIn,
): Promise<Reply> {
  const { tenant } = pending.provider
  const session = newSession(tenant, signedIn)
  const tokens = await mintFor(context, tenant, signedIn, session)
  if (tokens instanceof Refusal) return tokens
  const handle = await openFamily(context, tenant, session, signedIn)
  if (handle instanceof Refusal) return logRefusal(context.log, tenant.id, handle)
  const body = tokens(signedIn.providerGrant.refreshToken === null ? null : handle)
  return { status: 200, headers: ['Set-Cookie', clearSignInCookie(pending.state)], body }
}

/**
 * Always opens a new session with a new secret, and ends the browser's former session of the same tenant
 * (session fixation). A session of another tenant stays: a sign-in must not affect other tenants.
 */
async function respondToBrowser(
  context: Context,
  pending: PendingSignIn,
  signedIn: NewSignIn,
  { rawHeaders }: PublicRequest,
): Promise<PublicResponse | Refusal> {
  const { provider } = pending
  const before = await sessionOfCookie(context, rawHeaders)
  if (before !== null && before.tenant === provider.tenant.id)
    await endSession(context, before.tenant, before.id)
  const cookie = await openBrowserSession(context, provider.tenant, signedIn)
  if (cookie instanceof Refusal) return logRefusal(context.log, provider.tenant.id, cookie)
  return redirectTo(canonicalAddress(provider, pending.returnTo), [cookie, clearSignInCookie(pending.state)])
}

function inputInvalid(path: string, message: string): Refusal {
  return invalid(path, message, message)
}

/**
 * Checks `iss` (RFC 9207), `error` and `code`.
 *
 * @returns null: the response has a code. Rejects with ProviderError.
 */
async function checkResponse(
  context: Context,
  provider: Provider,
  query: URLSearchParams,
): Promise<Refusal | null> {
  const { issuer } = provider.tenant.oidc
  const { sendsIssuer, requiresObject } = await provider.discovered()
  const iss = query.get('iss')
  const required = sendsIssuer || context.sharedRedirect.has(provider.tenant.id)
  if (iss === null ? required : iss !== issuer) {
    const reason =
      iss === null ? 'the response names no issuer' : `the response names the issuer ${sanitizeName(iss)}`
    context.log.warn(
      { event: 'sign_in_failed', tenant: provider.tenant.id, reason },
      'the response is of another issuer',
    )
    return otherIssuer
  }
  const error = query.get('error')
  if (error !== null)
    return providerRefused(context, provider, {
      error,
      description: query.get('error_description') ?? '',
      requiresObject,
    })
  const other = OTHER_FLOWS.find((name) => query.has(name))
  if (other !== undefined) return inputInvalid(`/${other}`, 'belongs to a flow that was not requested')
  // An empty code counts as absent.
  return query.get('code') ? null : noCode
}

/** The error text goes to the log only: anyone can craft a link with such text. */
function providerRefused(
  { log }: Context,
  { tenant }: Provider,
  {
    error,
    description,
    requiresObject,
  }: { readonly error: string; readonly description: string; readonly requiresObject: boolean },
): Refusal {
  const isRequest = ABOUT_REQUEST.test(error)
  const advice =
    error === 'invalid_scope'
      ? scopeAdvice(tenant.oidc)
      : !isRequest
        ? ''
        : requestAdvice(description, requiresObject)
  const parts = [sanitizeErrorCode(error), sanitize(description), advice]
  const reason = parts.filter((each) => each !== '').join(' ')
  log[isRequest ? 'warn' : 'info'](
    { event: 'sign_in_failed', tenant: tenant.id, reason },
    'the identity provider did not sign the user in',
  )
  if (error === 'temporarily_unavailable' || error === 'server_error') return providerUnavailable
  return isRequest ? refusedRequest : notSignedIn
}
