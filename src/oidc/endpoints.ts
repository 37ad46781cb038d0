/** The endpoints of sign-in: requests in, answers or Refusals out. Called by `oidc.ts`, on behalf of the pipeline. */

import { Refusal } from '../errors.ts'
import { type Fields, invalid, readFields } from './body.ts'
import { headerLines } from './browser.ts'
import { callback } from './callback.ts'
import { asking, type Context } from './context.ts'
import { beginSignIn, type SignInBegun } from './login.ts'
import { logout } from './logout.ts'
import type { SignInReply, SignInRequest } from './ports.ts'
import type { Provider } from './provider.ts'
import { refresh } from './refresh.ts'
import { safeReturnTo } from './return-to.ts'
import { validate } from './validate.ts'

type Endpoint = (context: Context, request: SignInRequest) => Promise<SignInReply | Refusal>

/** One text for a tenant that isn't there and one that has no provider: it tells nobody which tenants exist. */
const noSignIn = invalid('/tenant', 'is not a tenant that signs in here')
/** The code would be used up, and nobody see what for. */
const notHead = new Refusal('method_not_allowed', 'A sign-in is finished by GET.', { allow: 'GET' })
const notOurs = new Refusal('route_not_found', 'No endpoint of sign-in has this path and method.')

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'POST /auth/oidc/login': loginEndpoint,
  'GET /auth/oidc/callback': callback,
  'POST /auth/oidc/validate': validateEndpoint,
  'POST /auth/oidc/refresh': refreshEndpoint,
  'POST /auth/oidc/logout': logoutEndpoint,
}

/** A tenant may have a callback of its own: `/auth/oidc/callback/acme`. */
const OWN_CALLBACK = /^(GET \/auth\/oidc\/callback)\/[^/]+$/

/** Rejects when the store, or where sign-ins are kept, can't be asked: the caller answers 503. */
export async function serveSignIn(context: Context, request: SignInRequest): Promise<SignInReply | Refusal> {
  if (request.method === 'HEAD') return notHead
  const name = `${request.method} ${request.path}`.replace(OWN_CALLBACK, '$1')
  const endpoint = Object.hasOwn(ENDPOINTS, name) ? ENDPOINTS[name] : undefined
  return endpoint === undefined ? notOurs : endpoint(context, request)
}

/**
 * For a browser that goes to a page without being signed in.
 *
 * @param target where it was going
 * @param cookies the values of all Cookie header lines
 */
export async function signInRedirect(
  context: Context,
  tenant: string,
  target: string,
  cookies: readonly string[],
): Promise<SignInReply | Refusal> {
  const provider = context.providers.get(tenant)
  if (provider === undefined) return noSignIn
  const begun = await asking(context, provider, () =>
    beginSignIn(context, provider, safeReturnTo(target) ?? '/', cookies),
  )
  return begun instanceof Refusal ? begun : seeOther(begun)
}

async function loginEndpoint(context: Context, request: SignInRequest): Promise<SignInReply | Refusal> {
  const fields = readFields(request, { required: ['tenant'], optional: ['return_to'] })
  if (fields instanceof Refusal) return fields
  const provider = providerOf(context, fields)
  if (provider instanceof Refusal) return provider
  const wanted = fields.get('return_to')
  const returnTo = wanted === null ? null : safeReturnTo(wanted)
  if (wanted !== null && returnTo === null) return invalid('/return_to', 'must be a path of this origin')
  const cookies = headerLines(request.rawHeaders, 'cookie')
  const begun = await asking(context, provider, () => beginSignIn(context, provider, returnTo, cookies))
  if (begun instanceof Refusal) return begun
  if (fields.form) return seeOther(begun)
  const { authorizationUrl, state, expiresIn, cookie } = begun
  const body = { authorization_url: authorizationUrl, state, expires_in: expiresIn }
  return { status: 200, headers: ['Set-Cookie', cookie], body }
}

function seeOther({ authorizationUrl, cookie }: SignInBegun): SignInReply {
  return { status: 303, headers: ['Set-Cookie', cookie, 'Location', authorizationUrl] }
}

async function validateEndpoint(context: Context, request: SignInRequest): Promise<SignInReply | Refusal> {
  const fields = readFields(request, { required: ['tenant', 'id_token'], optional: [] })
  if (fields instanceof Refusal) return fields
  const provider = providerOf(context, fields)
  return provider instanceof Refusal ? provider : validate(context, provider, fields.get('id_token') ?? '')
}

async function refreshEndpoint(context: Context, request: SignInRequest): Promise<SignInReply | Refusal> {
  const fields = readFields(request, { required: ['refresh_token'], optional: [] })
  return fields instanceof Refusal ? fields : refresh(context, fields.get('refresh_token') ?? '')
}

async function logoutEndpoint(context: Context, request: SignInRequest): Promise<SignInReply | Refusal> {
  const fields = readFields(request, { required: [], optional: ['refresh_token'] })
  if (fields instanceof Refusal) return fields
  const refreshToken = fields.get('refresh_token')
  return logout(context, { rawHeaders: request.rawHeaders, refreshToken, form: fields.form })
}

function providerOf({ providers }: Context, fields: Fields): Provider | Refusal {
  return providers.get(fields.get('tenant') ?? '') ?? noSignIn
}
