/**
 * Ends a session on all instances before the response, then at the provider if it supports that (OpenID
 * Connect RP-Initiated Logout 1.0). A provider that is down does not prevent the logout here.
 */

import * as client from 'openid-client'
import { areSameBytes } from '../../lib/same-bytes.ts'
import { Refusal } from '../../model/errors.ts'
import { readFields } from '../sign-in/body.ts'
import { hasOwnOrigin, headerLines } from '../sign-in/browser.ts'
import { about, type Context } from '../context.ts'
import { type AnswersOf, logoutFields } from '../sign-in-endpoints.ts'
import { cookieValues, ownOriginsOf, SESSION_COOKIE, setCookie } from './cookies.ts'
import { endSession, sessionOfCookie } from './end-session.ts'
import { parseHandleText } from './session-credentials.ts'
import { type ProviderGrant, openProviderGrant } from './open-session.ts'
import type { Reply } from '../ports.ts'
import type { PublicRequest } from '../../model/route.ts'
import type { Provider } from '../provider/provider.ts'
import { signedOutPage } from '../sign-in/refusal-page.ts'
import { foreignOrigin } from './session-authentication.ts'
import type { StoredSession } from '../../../seats-admin/index.ts'
import { codeOf } from '../provider/provider-errors.ts'

/** The most characters. Servers refuse URLs with longer hints; without a hint the provider asks the user. */
const MAX_HINT = 4096

/** Ends the session of the request. Without a session the response is 200 too. */
export async function logout(context: Context, request: PublicRequest): Promise<Reply> {
  const { rawHeaders } = request
  if (isForeign(context, rawHeaders)) return foreignOrigin
  const fields = readFields(request, logoutFields)
  if (fields instanceof Refusal) return fields
  // Programs send the handle instead of the cookie.
  const handle = fields.get('refresh_token')
  const byHandle = handle === null ? null : await sessionOfHandle(context, handle)
  const byCookie = await sessionOfCookie(context, rawHeaders)
  for (const session of [byHandle, byCookie])
    if (session !== null) await endSession(context, session.tenant, session.id)
  const session = byCookie ?? byHandle
  const provider = session === null ? undefined : context.providers.get(session.tenant)
  const url =
    session === null || provider === undefined ? null : await endAtProvider(context, provider, session)
  // Removed only if it was presented: otherwise any site could remove the cookie with a form.
  const headers = byCookie === null ? [] : ['Set-Cookie', setCookie(SESSION_COOKIE, '', 0)]
  const body: AnswersOf['logout'] = { logged_out: true, ...(url === null ? {} : { end_session_url: url }) }
  if (!fields.form) return { status: 200, headers, body }
  const location = url ?? provider?.tenant.oidc.postLogoutRedirect ?? null
  return location === null
    ? signedOutPage(headers)
    : { status: 303, headers: [...headers, 'Location', location] }
}

/**
 * Whether the request has a session cookie, valid or not, and no page of the gateway's own origin sent it.
 */
function isForeign({ providers }: Context, rawHeaders: readonly string[]): boolean {
  const origins = new Map([...providers].map(([tenant, provider]) => [tenant, originOf(provider)]))
  const cookies = cookieValues(headerLines(rawHeaders, 'cookie'), SESSION_COOKIE)
  return cookies.some((text) => !hasOwnOrigin(rawHeaders, ownOriginsOf(text, origins)))
}

/** The session of a handle; null: there is none. A used handle of the family ends it too. */
async function sessionOfHandle({ sessions }: Context, text: string): Promise<StoredSession | null> {
  const handle = parseHandleText(text)
  const session = handle === null ? null : await sessions.sessionById(handle.tenant, handle.id)
  if (handle === null || session === null || session.familyHash === null) return null
  return areSameBytes(session.familyHash, handle.proof.family) ? session : null
}

/**
 * The provider's logout URL for the browser; null if unsupported or when discovery fails. Never rejects.
 */
async function endAtProvider(
  context: Context,
  provider: Provider,
  session: StoredSession,
): Promise<string | null> {
  const own = about(context, { user: session.user, session: session.id })
  const providerGrant = openProviderGrant(session, provider.tenant)
  try {
    const { configuration } = await provider.discovered()
    void revoke(own, provider, configuration, providerGrant)
    if (configuration.serverMetadata().end_session_endpoint === undefined) return null
    const { postLogoutRedirect } = provider.tenant.oidc
    const hint = providerGrant?.idToken ?? null
    return client.buildEndSessionUrl(configuration, {
      ...(postLogoutRedirect === null ? {} : { post_logout_redirect_uri: postLogoutRedirect }),
      ...(hint === null || hint.length > MAX_HINT ? {} : { id_token_hint: hint }),
    }).href
  } catch (cause) {
    warn(own, provider, cause)
    return null
  }
}

/** RFC 7009, if the provider supports it. The response does not wait for it: the session has ended anyway. */
async function revoke(
  context: Context,
  provider: Provider,
  configuration: client.Configuration,
  providerGrant: ProviderGrant | null,
): Promise<void> {
  const token = providerGrant?.refreshToken ?? null
  if (token === null || configuration.serverMetadata().revocation_endpoint === undefined) return
  try {
    await client.tokenRevocation(configuration, token, { token_type_hint: 'refresh_token' })
  } catch (cause) {
    warn(context, provider, cause)
  }
}

function warn({ log }: Context, { tenant }: Provider, cause: unknown): void {
  log.warn(
    { event: 'logout_incomplete', tenant: tenant.id, reason: codeOf(cause) },
    'the session has ended here; the logout at the identity provider failed',
  )
}

function originOf({ tenant }: Provider): string {
  return new URL(tenant.oidc.redirectUri).origin
}
