/** Dispatches requests to the sign-in endpoints. */

import { Refusal } from '../model/errors.ts'
import { readFields } from './sign-in/body.ts'
import { callback } from './sign-in/callback.ts'
import { type Context, logRefusal, withProviderErrors } from './context.ts'
import { loginEndpoint, providerOf } from './sign-in/login-endpoint.ts'
import { logout } from './session/logout.ts'
import type { Reply } from './ports.ts'
import type { PublicRequest } from '../model/route.ts'
import { refresh } from './session/refresh.ts'
import { isOfTenant, otherTenant, readSeatsClaim } from './tokens/claims.ts'
import { verifyIdToken } from './tokens/id-token.ts'
import { mapSeats } from './tokens/seat-mapping.ts'

type Endpoint = (context: Context, request: PublicRequest) => Promise<Reply>

/** HEAD would redeem the code without a response body. */
const notHead = new Refusal('method_not_allowed', 'The sign-in callback accepts GET only.', { allow: 'GET' })
const notFound = new Refusal('route_not_found', 'No sign-in endpoint has this path and method.')

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  'POST /auth/oidc/login': loginEndpoint,
  'GET /auth/oidc/callback': callback,
  'POST /auth/oidc/validate': validate,
  'POST /auth/oidc/refresh': refresh,
  'POST /auth/oidc/logout': logout,
}

/** A callback of one tenant: `/auth/oidc/callback/acme`. */
const TENANT_CALLBACK = /^(GET \/auth\/oidc\/callback)\/[^/]+$/

/** Rejects when the store is unavailable; the caller responds with 503. */
export async function serveSignIn(context: Context, request: PublicRequest): Promise<Reply> {
  if (request.method === 'HEAD') return notHead
  const name = `${request.method} ${request.path}`.replace(TENANT_CALLBACK, '$1')
  const endpoint = Object.hasOwn(ENDPOINTS, name) ? ENDPOINTS[name] : undefined
  return endpoint === undefined ? notFound : endpoint(context, request)
}

/**
 * Verifies an ID token and reports its claims, its Seats and the `hash_perm` of a token. Creates no session and changes
 * nothing.
 */
async function validate(context: Context, request: PublicRequest): Promise<Reply> {
  const fields = readFields(request, { required: ['tenant', 'id_token'] })
  if (fields instanceof Refusal) return fields
  const provider = providerOf(context, fields)
  if (provider instanceof Refusal) return provider
  return withProviderErrors(context, provider, async () => {
    const { id, oidc } = provider.tenant
    const checks = {
      source: 'request',
      now: context.now(),
      nonce: null,
      accessToken: null,
      sub: null,
    } as const
    const token = await verifyIdToken(fields.get('id_token') ?? '', provider, checks)
    if (token instanceof Refusal) return token
    // Without an access token userinfo can't be queried: the ID token itself must contain the claim.
    if (!isOfTenant(oidc, token.claims)) return logRefusal(context.log, id, otherTenant)
    const seats = await mapSeats(context, id, readSeatsClaim(token.claims, oidc.seatsClaim).names ?? [])
    const body = { valid: true, claims: token.claims, seats: seats.names, hash_perm: seats.hashPerm }
    return { status: 200, headers: [], body }
  })
}
