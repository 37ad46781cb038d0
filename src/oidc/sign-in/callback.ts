/**
 * The provider sends the browser back (OpenID Connect Core 1.0, section 3.1.2.5). Checks in this order, so that no
 * request goes out for an answer that is not one to our question: state with its browser, address, `iss`, `error`,
 * `code`, first use; then the code is redeemed and the ID token verified. Called by the endpoint.
 */

import { Refusal } from '../../model/errors.ts'
import { checkAnswer, faulty, notSignedIn, repeated } from './callback-checks.ts'
import { headerLines, isNavigation } from './browser.ts'
import { asking, type Context, logged } from '../context.ts'
import { endSession, sessionOfCookie } from '../session/end-session.ts'
import { mapSeats } from '../tokens/seat-mapping.ts'
import { openBrowserSession, openFamily, type SignedIn } from '../session/open-session.ts'
import { asPage } from './page.ts'
import { readUser } from '../tokens/signed-in-user.ts'
import type { SignInResponse, SignInRequest } from '../ports.ts'
import { callbackAtHome, goOn, homeAddress, signedInAlready } from './redirect.ts'
import { forgetBrowser, type Shown, shownState, useState } from './state.ts'
import { redeemCode } from '../provider/token-endpoint.ts'
import { mintFor } from '../tokens/token-response.ts'

const notBegun = faulty(
  '/state',
  'No sign-in of this browser is waiting here: it was finished already, or was begun in another browser. ' +
    'Go on if you are signed in, else begin again.',
)
const expired = faulty('/state', 'This sign-in took more than ten minutes. Begin again.')
const used = faulty(
  '/state',
  'This sign-in was finished already. Go on if you are signed in, else begin again.',
)
/** For a person, who has most likely pressed a button that says so. */
const cancelled = 'The sign-in was cancelled, or the identity provider did not allow it.'

/** An answer that came back to a sign-in of this browser. */
interface Came {
  readonly request: SignInRequest
  readonly query: URLSearchParams
  /** The values of all Cookie header lines. */
  readonly cookies: readonly string[]
}

export async function callback(context: Context, request: SignInRequest): Promise<SignInResponse | Refusal> {
  const query = new URLSearchParams(request.query)
  const cookies = headerLines(request.rawHeaders, 'cookie')
  const shown = shownState(context, query.get('state') ?? '', cookies)
  const reply = await answered(context, { request, query, cookies }, shown)
  if (!(reply instanceof Refusal) || !isNavigation(request.method, request.rawHeaders)) return reply
  const again = shown === null ? '/' : homeAddress(shown.provider, shown.returnTo)
  return asPage(reply, again, reply === notSignedIn ? cancelled : reply.detail)
}

async function answered(
  context: Context,
  came: Came,
  shown: Shown | null,
): Promise<SignInResponse | Refusal> {
  const { request, query, cookies } = came
  const doubled = repeated(query)
  if (doubled !== null) return doubled
  if (shown === null) return callbackAtHome(context, request) ?? notBegun
  if (new URL(shown.provider.tenant.oidc.redirectUri).pathname !== request.path) return notBegun
  if (shown.expired) return (await signedInAlready(context, shown, request, cookies)) ?? expired
  return asking(context, shown.provider, () => finish(context, came, shown))
}

async function finish(context: Context, came: Came, shown: Shown): Promise<SignInResponse | Refusal> {
  const { request, query, cookies } = came
  const refusal = await checkAnswer(context, shown.provider, query)
  if (refusal !== null) return refusal
  const first = await useState(context, shown)
  if (first instanceof Refusal) return first
  if (!first) return (await signedInAlready(context, shown, request, cookies)) ?? used
  const who = await signIn(context, shown, query)
  if (who instanceof Refusal) return who
  return shown.returnTo === null ? forProgram(context, shown, who) : forBrowser(context, shown, who, cookies)
}

async function signIn(context: Context, shown: Shown, query: URLSearchParams): Promise<SignedIn | Refusal> {
  const { provider, nonce } = shown
  const { id } = provider.tenant
  const answer = await redeemCode(provider, query, shown)
  const now = context.now()
  const user = await readUser(provider, answer, { now, nonce, sub: null }, context.log)
  if (user instanceof Refusal) return logged(context.log, id, user)
  // Before the Seats are looked up: a name given up after that is given up for this sign-in too.
  const issuedAt = Math.floor(context.now() / 1000)
  const seats = await mapSeats(context, id, user.names)
  await context.seats.recordMember(id, user.identity.sub, seats.ids)
  const { refreshToken, idToken } = answer
  const { identity } = user
  context.log.info(
    { event: 'signed_in', tenant: id, user: identity.sub, seats: seats.ids.length },
    'signed in',
  )
  return { identity, seats, providerGrant: { refreshToken, idToken, nonce }, issuedAt }
}

async function forProgram(context: Context, shown: Shown, who: SignedIn): Promise<SignInResponse | Refusal> {
  const { tenant } = shown.provider
  const tokens = await mintFor(context, tenant, who)
  if (tokens instanceof Refusal) return tokens
  const handle = who.providerGrant.refreshToken === null ? null : await openFamily(context, tenant, who)
  return { status: 200, headers: ['Set-Cookie', forgetBrowser(shown.state)], body: tokens(handle) }
}

/**
 * A session of its own, under a new secret, whatever the browser had: a session of the same tenant is ended (session
 * fixation). One of another tenant goes on, as no sign-in of one tenant may end what is another's.
 */
async function forBrowser(
  context: Context,
  shown: Shown,
  who: SignedIn,
  cookies: readonly string[],
): Promise<SignInResponse> {
  const { provider } = shown
  const before = await sessionOfCookie(context, cookies)
  if (before !== null && before.tenant === provider.tenant.id)
    await endSession(context, before.tenant, before.id)
  const cookie = await openBrowserSession(context, provider.tenant, who)
  return goOn(homeAddress(provider, shown.returnTo), [cookie, forgetBrowser(shown.state)])
}
