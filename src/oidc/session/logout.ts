/**
 * Ends a session on all instances before the response, then at the provider if it supports that (OpenID Connect
 * RP-Initiated Logout 1.0). A provider that is down does not prevent the logout here.
 */

import * as client from 'openid-client'
import { headerLines, isSameOrigin } from '../sign-in/browser.ts'
import type { Context } from '../context.ts'
import { SESSION_COOKIE, setCookie } from './cookies.ts'
import { endSession, sessionOfCookie } from './end-session.ts'
import { parseHandleText, sameHash } from './session-credentials.ts'
import { type ProviderGrant, openProviderGrant } from './open-session.ts'
import type { Reply } from '../ports.ts'
import type { PublicResponse } from '../../model/route.ts'
import type { Provider } from '../provider/provider.ts'
import { returnAddress } from '../sign-in/return-to.ts'
import { sessionCrossSite } from './session-refusals.ts'
import type { StoredSession } from '../../../seats-admin/index.ts'
import { codeOf } from '../provider/errors.ts'

/** Characters. Servers refuse URLs with longer hints; without a hint the provider asks the user. */
const MAX_HINT = 4096

export interface LogoutRequest {
  readonly rawHeaders: readonly string[]
  /** Sent by programs instead of the cookie; null when absent. */
  readonly refreshToken: string | null
  /** The request is an HTML form: the response is a redirect. */
  readonly form: boolean
}

/** Without a session the response is also 200. */
export async function logout(context: Context, request: LogoutRequest): Promise<Reply> {
  const byHandle = request.refreshToken === null ? null : await sessionOfHandle(context, request.refreshToken)
  const byCookie = await sessionOfCookie(context, headerLines(request.rawHeaders, 'cookie'))
  if (byCookie !== null && !isFromOwnPage(context, byCookie, request)) return sessionCrossSite
  for (const session of [byHandle, byCookie])
    if (session !== null) await endSession(context, session.tenant, session.id)
  const session = byCookie ?? byHandle
  const provider = session === null ? undefined : context.providers.get(session.tenant)
  const url =
    session === null || provider === undefined ? null : await endAtProvider(context, provider, session)
  return reply(request, provider, url, byCookie !== null)
}

function isFromOwnPage(
  { providers }: Context,
  { tenant }: StoredSession,
  { rawHeaders }: LogoutRequest,
): boolean {
  const provider = providers.get(tenant)
  return provider !== undefined && isSameOrigin(rawHeaders, originOf(provider))
}

/** Any handle of the family ends the session, a used one too. */
async function sessionOfHandle({ sessions }: Context, text: string): Promise<StoredSession | null> {
  const handle = parseHandleText(text)
  const session = handle === null ? null : await sessions.sessionById(handle.tenant, handle.id)
  if (handle === null || session === null || session.familyHash === null) return null
  return sameHash(session.familyHash, handle.proof.family) ? session : null
}

/** The provider's logout URL for the browser; null when unsupported or when discovery fails. Never rejects. */
async function endAtProvider(
  context: Context,
  provider: Provider,
  session: StoredSession,
): Promise<string | null> {
  const providerGrant = openProviderGrant(session, provider.tenant)
  try {
    const { configuration, hasEndSession } = await provider.discovered()
    void revoke(context, provider, configuration, providerGrant)
    if (!hasEndSession) return null
    const { postLogoutRedirect } = provider.tenant.oidc
    const hint = providerGrant?.idToken ?? null
    return client.buildEndSessionUrl(configuration, {
      ...(postLogoutRedirect === null ? {} : { post_logout_redirect_uri: postLogoutRedirect }),
      ...(hint === null || hint.length > MAX_HINT ? {} : { id_token_hint: hint }),
    }).href
  } catch (cause) {
    warn(context, provider, cause)
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

/** The cookie is removed only if it was presented: otherwise any site could remove it with a form. */
function reply(
  { form }: LogoutRequest,
  provider: Provider | undefined,
  url: string | null,
  cookie: boolean,
): PublicResponse {
  const headers = cookie ? ['Set-Cookie', setCookie(SESSION_COOKIE, '', 0)] : []
  if (!form)
    return {
      status: 200,
      headers,
      body: { logged_out: true, ...(url === null ? {} : { end_session_url: url }) },
    }
  const home = provider === undefined ? '/' : returnAddress('/', originOf(provider))
  const location = url ?? provider?.tenant.oidc.postLogoutRedirect ?? home
  return { status: 303, headers: [...headers, 'Location', location] }
}

function originOf({ tenant }: Provider): string {
  return new URL(tenant.oidc.redirectUri).origin
}
