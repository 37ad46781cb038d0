/** The endpoint that begins a sign-in, for a program or a form. */

import { Refusal } from '../../model/errors.ts'
import { beginSignIn, providerOf, type RequestedSignIn, seeOther } from './begin-sign-in.ts'
import { invalid, readFields } from './body.ts'
import { acceptsPages, headerLines, isSameOrigin } from './browser.ts'
import type { Context } from '../context.ts'
import { type AnswersOf, loginFields } from '../sign-in-endpoints.ts'
import { asPage } from './refusal-page.ts'
import type { OidcTenant, Reply } from '../ports.ts'
import type { PublicRequest } from '../../model/route.ts'
import type { Provider } from '../provider/provider.ts'
import { safeReturnTo } from './return-to.ts'
import { STATE_LIFETIME } from './state.ts'
import { isAtNonCanonicalHost, redirectToCanonicalHost, setCookies } from './canonical-host.ts'

const originRefused = new Refusal(
  'origin_refused',
  'A form may start a sign-in only from a page of this origin or of an origin configured for the tenant. Programs send JSON.',
)
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
  const started = await beginSignIn(context, provider, page, rawHeaders)
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
  const started = await beginSignIn(context, provider, page, rawHeaders)
  return started instanceof Refusal ? started : seeOther(started)
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
