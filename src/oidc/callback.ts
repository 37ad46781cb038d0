/**
 * The provider sends the browser back (OpenID Connect Core 1.0, section 3.1.2.5). Checks in this order, so that no
 * request goes out for an answer that is not one to our question: state with its browser, address, `iss`, `error`,
 * `code`; then the code is redeemed and the ID token verified. Called by the endpoint.
 */

import { Refusal } from '../errors.ts'
import { scopeAdvice } from './advice.ts'
import { headerLines } from './browser.ts'
import { cleaned, cleanedError } from './clean.ts'
import { asking, type Context, logged } from './context.ts'
import { endSession, sessionOfCookie } from './end-session.ts'
import { mapSeats } from './grants.ts'
import { openBrowserSession, openFamily, type SignedIn } from './open-session.ts'
import { readPerson } from './person.ts'
import type { SignInReply, SignInRequest } from './ports.ts'
import type { Provider } from './provider.ts'
import { returnAddress } from './return-to.ts'
import { forgetBrowser, type Taken, takeState } from './state.ts'
import { redeemCode } from './token-endpoint.ts'
import { mintFor } from './token-reply.ts'
import { providerUnavailable } from './trouble.ts'

const notBegun = faulty(
  '/state',
  'This sign-in was not begun by this browser, is over already, or took more than ten minutes. Begin again.',
)
const otherIssuer = faulty(
  '/iss',
  'The answer is not from the identity provider that was asked. Begin again.',
)
const noCode = faulty('/code', 'The answer has no code.')
/** Of other flows (OAuth 2.0 Multiple Response Types; JARM), none of which was asked for. */
const OTHER_FLOWS = ['response', 'id_token', 'token', 'token_type', 'access_token']
const notSignedIn = new Refusal('credentials_missing', 'The identity provider did not sign the user in.')

function faulty(path: string, message: string): Refusal {
  return new Refusal('input_invalid', message, { faults: [{ path, message }] })
}

export async function callback(context: Context, request: SignInRequest): Promise<SignInReply | Refusal> {
  const query = new URLSearchParams(request.query)
  const doubled = repeated(query)
  if (doubled !== null) return doubled
  const cookies = headerLines(request.rawHeaders, 'cookie')
  const taken = await takeState(context, query.get('state') ?? '', cookies)
  if (taken === null || new URL(taken.provider.tenant.oidc.redirectUri).pathname !== request.path)
    return notBegun
  return asking(context, taken.provider, async () => {
    const refusal = await checkAnswer(context, taken.provider, query)
    if (refusal !== null) return refusal
    const who = await signIn(context, taken, query)
    if (who instanceof Refusal) return who
    return taken.returnTo === null
      ? forProgram(context, taken, who)
      : forBrowser(context, taken, who, cookies)
  })
}

/** RFC 6749, section 3.1: no parameter more than once. Two readers could take different ones. */
function repeated(query: URLSearchParams): Refusal | null {
  for (const name of ['state', 'code', 'iss', 'error'])
    if (query.getAll(name).length > 1) return faulty(`/${name}`, 'is there more than once')
  return null
}

async function checkAnswer(
  context: Context,
  provider: Provider,
  query: URLSearchParams,
): Promise<Refusal | null> {
  const { issuer } = provider.tenant.oidc
  const { sendsIssuer } = await provider.discovered()
  const iss = query.get('iss')
  const required = sendsIssuer || context.sharedRedirect.has(provider.tenant.id)
  if (iss === null ? required : iss !== issuer) return otherIssuer
  const error = query.get('error')
  if (error !== null) return providerSaidNo(context, provider, error, query.get('error_description') ?? '')
  const other = OTHER_FLOWS.find((name) => query.has(name))
  if (other !== undefined) return faulty(`/${other}`, 'belongs to a flow that was not asked for')
  // An empty one as well.
  return query.get('code') ? null : noCode
}

/** Its words are for the log: anybody can write a link with words in it. */
function providerSaidNo({ log }: Context, { tenant }: Provider, error: string, description: string): Refusal {
  const advice = error === 'invalid_scope' ? scopeAdvice(tenant.oidc) : ''
  const words = [cleanedError(error), cleaned(description), advice]
  const reason = words.filter((each) => each !== '').join(' ')
  // invalid_scope is a fault of the configuration, the other errors are the user's or the provider's.
  log[advice === '' ? 'info' : 'warn'](
    { event: 'sign_in_failed', tenant: tenant.id, reason },
    'the identity provider did not sign the user in',
  )
  return error === 'temporarily_unavailable' || error === 'server_error' ? providerUnavailable : notSignedIn
}

async function signIn(context: Context, taken: Taken, query: URLSearchParams): Promise<SignedIn | Refusal> {
  const { provider, nonce } = taken
  const { id } = provider.tenant
  const answer = await redeemCode(provider, query, taken)
  const now = context.now()
  const person = await readPerson(provider, answer, { now, nonce, sub: null }, context.log)
  if (person instanceof Refusal) return logged(context.log, id, person)
  // Before the Seats are looked up: a name given up after that is given up for this sign-in too.
  const issuedAt = Math.floor(context.now() / 1000)
  const seats = await mapSeats(context, id, person.names)
  await context.seats.recordMember(id, person.identity.sub, seats.ids)
  const { refreshToken, idToken } = answer
  const { identity } = person
  context.log.info(
    { event: 'signed_in', tenant: id, user: identity.sub, seats: seats.ids.length },
    'signed in',
  )
  return { identity, seats, keepsake: { refreshToken, idToken, nonce }, issuedAt }
}

async function forProgram(context: Context, taken: Taken, who: SignedIn): Promise<SignInReply | Refusal> {
  const { tenant } = taken.provider
  const tokens = await mintFor(context, tenant, who)
  if (tokens instanceof Refusal) return tokens
  const handle = who.keepsake.refreshToken === null ? null : await openFamily(context, tenant, who)
  return { status: 200, headers: ['Set-Cookie', forgetBrowser(taken.state)], body: tokens(handle) }
}

/** A session of its own, under a new secret, whatever the browser had: what it had is ended (session fixation). */
async function forBrowser(
  context: Context,
  taken: Taken,
  who: SignedIn,
  cookies: readonly string[],
): Promise<SignInReply> {
  const { tenant } = taken.provider
  const before = await sessionOfCookie(context, cookies)
  if (before !== null) await endSession(context, before.tenant, before.id)
  const cookie = await openBrowserSession(context, tenant, who)
  const location = returnAddress(taken.returnTo ?? '/', new URL(tenant.oidc.redirectUri).origin)
  const headers = ['Set-Cookie', cookie, 'Set-Cookie', forgetBrowser(taken.state), 'Location', location]
  // The address of this page has the code in it.
  return { status: 303, headers: [...headers, 'Referrer-Policy', 'no-referrer'] }
}
