/**
 * Where a sign-in begins: at the endpoint, by a program or a form, and for browsers that a route sends to sign in.
 */

import { Refusal } from '../../model/errors.ts'
import { type Fields, invalid, readFields } from './body.ts'
import { headerLines, showsPages } from './browser.ts'
import { asking, type Context } from '../context.ts'
import { formSource, isUnreadForm, originRefused } from './form-origin.ts'
import { isAtOtherHost } from './host.ts'
import { beginSignIn, type SignInBegun } from './login.ts'
import { asPage } from './page.ts'
import type { SignInResponse, SignInRequest } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import { pageOf, safeReturnTo } from './return-to.ts'
import { goHome, setCookies } from './redirect.ts'

/** One text for a tenant that is not there and one that has no provider: it does not tell which tenants exist. */
const noSignIn = invalid('/tenant', 'is not a tenant that signs in here')

/**
 * For a browser that goes to a page without being signed in.
 *
 * @param target where it was going
 * @param rawHeaders of its request
 */
export async function signInRedirect(
  context: Context,
  tenant: string,
  target: string,
  rawHeaders: readonly string[],
): Promise<SignInResponse | Refusal> {
  const provider = context.providers.get(tenant)
  if (provider === undefined) return noSignIn
  const returnTo = pageOf(target) ?? '/'
  if (isAtOtherHost(rawHeaders, provider.tenant.oidc.redirectUri)) return goHome(provider, returnTo)
  const begun = await begin(context, provider, returnTo, rawHeaders)
  return begun instanceof Refusal ? asPage(begun, returnTo) : seeOther(begun)
}

export async function loginEndpoint(
  context: Context,
  request: SignInRequest,
): Promise<SignInResponse | Refusal> {
  const reply = await login(context, request)
  return reply instanceof Refusal && showsPages(request.rawHeaders) ? asPage(reply, '/') : reply
}

async function login(context: Context, request: SignInRequest): Promise<SignInResponse | Refusal> {
  const { rawHeaders } = request
  const fields = readFields(request, { required: ['tenant'], optional: ['return_to'] })
  if (fields instanceof Refusal) return isForeign(context, rawHeaders) ? originRefused : fields
  const provider = providerOf(context, fields)
  if (provider instanceof Refusal) return provider
  const wanted = fields.get('return_to')
  const returnTo = wanted === null ? null : safeReturnTo(wanted)
  if (wanted !== null && returnTo === null) return invalid('/return_to', 'must be a path of this origin')
  if (fields.form) return fromForm(context, provider, returnTo, rawHeaders)
  const begun = await begin(context, provider, returnTo, rawHeaders)
  if (begun instanceof Refusal) return begun
  const { authorizationUrl, state, expiresIn, cookies } = begun
  const body = { authorization_url: authorizationUrl, state, expires_in: expiresIn }
  return { status: 200, headers: setCookies(cookies), body }
}

/** A form of a type that is not read here, by a page that no tenant knows. */
function isForeign({ providers }: Context, rawHeaders: readonly string[]): boolean {
  if (!isUnreadForm(rawHeaders)) return false
  return [...providers.values()].every(({ tenant }) => formSource(rawHeaders, tenant) === 'foreign')
}

async function fromForm(
  context: Context,
  provider: Provider,
  returnTo: string | null,
  rawHeaders: readonly string[],
): Promise<SignInResponse | Refusal> {
  const source = formSource(rawHeaders, provider.tenant)
  if (source === 'foreign') return originRefused
  // The page's own origin says where the browser is, whatever Host a proxy has written.
  if (source !== 'home' && isAtOtherHost(rawHeaders, provider.tenant.oidc.redirectUri))
    return goHome(provider, returnTo)
  const begun = await begin(context, provider, returnTo, rawHeaders)
  return begun instanceof Refusal ? begun : seeOther(begun)
}

function begin(
  context: Context,
  provider: Provider,
  returnTo: string | null,
  rawHeaders: readonly string[],
): Promise<SignInBegun | Refusal> {
  const cookies = headerLines(rawHeaders, 'cookie')
  return asking(context, provider, () => beginSignIn(context, provider, returnTo, cookies))
}

function seeOther({ authorizationUrl, cookies }: SignInBegun): SignInResponse {
  return { status: 303, headers: [...setCookies(cookies), 'Location', authorizationUrl] }
}

export function providerOf({ providers }: Context, fields: Fields): Provider | Refusal {
  return providers.get(fields.get('tenant') ?? '') ?? noSignIn
}
