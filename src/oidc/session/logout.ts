/**
 * Ends a session: here, on every instance, before it is answered; then at the provider, where it offers that (OpenID
 * Connect RP-Initiated Logout 1.0). A provider that is down keeps nobody signed in here. Called by the endpoint.
 */

import * as client from 'openid-client'
import type { Refusal } from '../../model/errors.ts'
import { headerLines, isSameOrigin } from '../sign-in/browser.ts'
import type { Context } from '../context.ts'
import { SESSION_COOKIE, setCookie } from './cookies.ts'
import { endSession, sessionOfCookie } from './end-session.ts'
import { parseHandleText, sameHash } from './handle.ts'
import { type ProviderGrant, openProviderGrant } from './open-session.ts'
import type { SignInResponse } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import { returnAddress } from '../sign-in/return-to.ts'
import { sessionCrossSite } from './session-refusals.ts'
import type { StoredSession } from '../../../seats-admin/index.ts'
import { codeOf } from '../provider/provider-error.ts'

/** Characters. A longer hint would make an address that servers refuse; without it the provider asks the user. */
const MAX_HINT = 4096

export interface Logout {
  readonly rawHeaders: readonly string[]
  /** A program's, instead of the cookie; null: none. */
  readonly refreshToken: string | null
  /** From an HTML form: answered by sending the browser on. */
  readonly form: boolean
}

/** Whoever has nothing to end is signed out already: 200 as well. */
export async function logout(context: Context, ask: Logout): Promise<SignInResponse | Refusal> {
  const byHandle = ask.refreshToken === null ? null : await sessionOfHandle(context, ask.refreshToken)
  const byCookie = await sessionOfCookie(context, headerLines(ask.rawHeaders, 'cookie'))
  if (byCookie !== null && !isFromOwnPage(context, byCookie, ask)) return sessionCrossSite
  for (const session of [byHandle, byCookie])
    if (session !== null) await endSession(context, session.tenant, session.id)
  const session = byCookie ?? byHandle
  const provider = session === null ? undefined : context.providers.get(session.tenant)
  const url =
    session === null || provider === undefined ? null : await endAtProvider(context, provider, session)
  return reply(ask, provider, url, byCookie !== null)
}

function isFromOwnPage({ providers }: Context, { tenant }: StoredSession, { rawHeaders }: Logout): boolean {
  const provider = providers.get(tenant)
  return provider !== undefined && isSameOrigin(rawHeaders, originOf(provider))
}

/** Any handle of the family will do: who holds a used one may still end it. */
async function sessionOfHandle({ sessions }: Context, text: string): Promise<StoredSession | null> {
  const handle = parseHandleText(text)
  const session = handle === null ? null : await sessions.sessionById(handle.tenant, handle.id)
  if (handle === null || session === null || session.familyHash === null) return null
  return sameHash(session.familyHash, handle.proof.family) ? session : null
}

/** Where to send the browser to sign out there; null where that isn't offered, or can't be known. Never rejects. */
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

/** RFC 7009, as far as the provider has it. Nobody waits: the session is over, whatever comes of it. */
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
    'the session is over here; the identity provider could not be told',
  )
}

/** The cookie is taken away only from who showed it: else any site could do that with a form. */
function reply(
  { form }: Logout,
  provider: Provider | undefined,
  url: string | null,
  cookie: boolean,
): SignInResponse {
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
