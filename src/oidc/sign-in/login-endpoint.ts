/** Starts a sign-in: at the endpoint, for a program or a form, and for browsers that a route redirects. */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import { type Fields, invalid, readFields } from './body.ts'
import { acceptsPages, headerLines, isSameOrigin } from './browser.ts'
import { withProviderErrors, type Context } from '../context.ts'
import { type AnswersOf, loginFields } from '../sign-in-endpoints.ts'
import { asPage } from './refusal-page.ts'
import type { OidcTenant, Reply } from '../ports.ts'
import type { PublicRequest, PublicResponse } from '../../model/route.ts'
import type { Provider } from '../provider/provider.ts'
import { pageOf, safeReturnTo } from './return-to.ts'
import { ProviderError } from '../provider/provider-errors.ts'
import { newState, STATE_LIFETIME } from './state.ts'
import { isAtNonCanonicalHost, redirectToCanonicalHost, setCookies } from './redirect.ts'

const originRefused = new Refusal(
  'origin_refused',
  'A form may start a sign-in only from a page of this origin or of an origin configured for the tenant. Programs send JSON.',
)
/**
 * The same for an unknown tenant and a tenant without a provider, so that it does not reveal which tenants
 * exist.
 */
const noSignIn = invalid('/tenant', 'is not a tenant with sign-in')

/**
 * Redirects a browser that navigates to a page without being signed in.
 *
 * @param target the requested path and query
 * @param rawHeaders name, value, …
 */
export async function signInRedirect(
  context: Context,
  tenant: string,
  target: string,
  rawHeaders: readonly string[],
): Promise<Reply> {
  const provider = context.providers.get(tenant)
  if (provider === undefined) return noSignIn
  const returnTo = pageOf(target, context.prefix) ?? '/'
  if (isAtNonCanonicalHost(rawHeaders, provider.tenant.oidc.redirectUri))
    return redirectToCanonicalHost(provider, returnTo)
  const started = await start(context, provider, { returnTo, prompt: null }, rawHeaders)
  return started instanceof Refusal ? asPage(started, returnTo) : seeOther(started)
}

export async function loginEndpoint(context: Context, request: PublicRequest): Promise<Reply> {
  const reply = await login(context, request)
  return reply instanceof Refusal && acceptsPages(request.rawHeaders) ? asPage(reply, '/') : reply
}

async function login(context: Context, request: PublicRequest): Promise<Reply> {
  const { rawHeaders } = request
  const fields = readFields(request, loginFields)
  if (fields instanceof Refusal) return isForeign(context, rawHeaders) ? originRefused : fields
  const provider = providerOf(context, fields)
  if (provider instanceof Refusal) return provider
  const requested = fields.get('return_to')
  const returnTo = requested === null ? null : safeReturnTo(requested, context.prefix)
  if (requested !== null && returnTo === null) return invalid('/return_to', 'must be a path of this origin')
  const page = { returnTo, prompt: fields.get('prompt') }
  if (fields.form) return fromForm(context, provider, page, rawHeaders)
  const started = await start(context, provider, page, rawHeaders)
  if (started instanceof Refusal) return started
  const { authorizationUrl, state, cookies } = started
  const body: AnswersOf['login'] = {
    authorization_url: authorizationUrl,
    state,
    expires_in: STATE_LIFETIME / 1000,
  }
  return { status: 200, headers: setCookies(cookies), body }
}

/** Whether a page of an origin unknown to all tenants sent a form of an unsupported type. */
function isForeign({ providers }: Context, rawHeaders: readonly string[]): boolean {
  if (!isUnsupportedForm(rawHeaders)) return false
  return [...providers.values()].every(({ tenant }) => formSource(rawHeaders, tenant) === 'foreign')
}

async function fromForm(
  context: Context,
  provider: Provider,
  page: RequestedSignIn,
  rawHeaders: readonly string[],
): Promise<Reply> {
  const source = formSource(rawHeaders, provider.tenant)
  if (source === 'foreign') return originRefused
  // The page's origin tells the browser's host even when a proxy rewrites Host.
  if (source !== 'canonical' && isAtNonCanonicalHost(rawHeaders, provider.tenant.oidc.redirectUri))
    return redirectToCanonicalHost(provider, page.returnTo)
  const started = await start(context, provider, page, rawHeaders)
  return started instanceof Refusal ? started : seeOther(started)
}

interface RequestedSignIn {
  /** The page after the sign-in; null: a program signs in. */
  readonly returnTo: string | null
  /** The prompt (OpenID Connect Core 1.0, section 3.1.2.1); null: the provider decides. */
  readonly prompt: string | null
}

interface StartedSignIn {
  readonly authorizationUrl: string
  readonly state: string
  /** Values for Set-Cookie. */
  readonly cookies: readonly string[]
}

/** @returns a Refusal also when completed sign-ins can't be recorded */
function start(
  context: Context,
  provider: Provider,
  { returnTo, prompt }: RequestedSignIn,
  rawHeaders: readonly string[],
): Promise<StartedSignIn | Refusal> {
  return withProviderErrors(context, provider, async () => {
    const { configuration, sendsIssuer } = await provider.discovered()
    refuseMixUp(context, provider, sendsIssuer)
    const pending = await newState(context, provider, returnTo, headerLines(rawHeaders, 'cookie'))
    if (pending instanceof Refusal) return pending
    const { state, nonce, verifier, cookies } = pending
    const { redirectUri, scopes } = provider.tenant.oidc
    // OpenID Connect Core 1.0, section 3.1.2.1; with PKCE S256 whether or not the provider advertises it.
    const url = client.buildAuthorizationUrl(configuration, {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(prompt === null ? {} : { prompt }),
    })
    return { authorizationUrl: url.href, state, cookies }
  })
}

/**
 * Prevents mix-up attacks (RFC 9700, section 4.4): with a shared redirect_uri, a hostile provider can obtain
 * another provider's code under its own state. Either the responses carry `iss` (RFC 9207), or each tenant
 * has its own redirect_uri.
 */
function refuseMixUp({ sharedRedirect }: Context, { tenant }: Provider, sendsIssuer: boolean): void {
  if (sharedRedirect.has(tenant.id) && !sendsIssuer)
    throw new ProviderError(
      'the provider does not send iss (RFC 9207), and another tenant has the same redirect_uri: configure a separate redirect_uri for each tenant',
    )
}

function seeOther({ authorizationUrl, cookies }: StartedSignIn): PublicResponse {
  return { status: 303, headers: [...setCookies(cookies), 'Location', authorizationUrl] }
}

export function providerOf({ providers }: Context, fields: Fields): Provider | Refusal {
  return providers.get(fields.get('tenant') ?? '') ?? noSignIn
}

/**
 * Protects against login CSRF: a page of another origin could submit a form that signs its visitor in to
 * another account or tenant. A form is accepted only from the gateway's own origin or a configured one. JSON
 * needs no such rule, because cross-origin JSON requires a CORS preflight.
 *
 * - `canonical`: a page of the redirect_uri's origin
 * - `other`: a page of the host in the request, which may be another name of the gateway, or of one of the
 *   tenant's `origins`. The scheme must be the one of the redirect_uri: an attacker on the network can put
 *   pages at `http://` of a host that is served over HTTPS, and sign the visitor in to another account
 */
type FormSource = 'canonical' | 'other' | 'foreign'

function formSource(rawHeaders: readonly string[], { oidc }: OidcTenant): FormSource {
  if (isSameOrigin(rawHeaders, new URL(oidc.redirectUri).origin)) return 'canonical'
  const [origin, ...others] = headerLines(rawHeaders, 'origin')
  if (origin === undefined || others.length > 0) return 'foreign'
  if (oidc.origins.includes(origin)) return 'other'
  const hosts = headerLines(rawHeaders, 'host')
  const sameHost = hosts.length === 1 && origin === `${new URL(oidc.redirectUri).protocol}//${hosts[0]}`
  return sameHost && isSameOrigin(rawHeaders, origin) ? 'other' : 'foreign'
}

/** The other content types of HTML forms, which pages of any origin can send without a preflight. */
const OTHER_FORM_TYPES = /^(?:multipart\/form-data|text\/plain)[ \t]*(?:;|$)/i

/** Whether a browser sends a form of an unsupported type; browsers send Origin or Sec-Fetch-Site. */
function isUnsupportedForm(rawHeaders: readonly string[]): boolean {
  const fromPage = ['origin', 'sec-fetch-site'].some((name) => headerLines(rawHeaders, name).length > 0)
  return (
    fromPage && headerLines(rawHeaders, 'content-type').some((type) => OTHER_FORM_TYPES.test(type.trim()))
  )
}
