/** Ends sessions on all instances. */

import { areSameBytes } from '../../lib/same-bytes.ts'
import type { Context } from '../context.ts'
import { headerLines } from '../sign-in/browser.ts'
import { cookieValues, SESSION_COOKIE } from './cookies.ts'
import { parseCookieText } from './session-credentials.ts'
import type { StoredSession, Writer } from '../../../seats-admin/index.ts'
import type { OidcTenant } from '../ports.ts'

/**
 * Ends the session for its own user. Resolves once no instance accepts it. Rejects if the store is
 * unavailable.
 */
export async function endSession(context: Context, tenant: string, id: string): Promise<void> {
  const committed = await context.sessions.end(tenant, id, context.now())
  if (committed !== null) await context.announce(committed)
}

/** Ends the session for the provider, as {@link endSession} does: the audit has an entry. */
export async function endForProvider(context: Context, tenant: OidcTenant, id: string): Promise<void> {
  const committed = await context.sessions.endByProvider(providerAuthor(context, tenant), id)
  if (committed !== null) await context.announce(committed)
}

/**
 * The author of what the tenant's provider causes, for the audit.
 *
 * @param issuer of the transmitter of its events
 */
export function providerAuthor(
  { now, requestId }: Pick<Context, 'now' | 'requestId'>,
  { id, adminSpace, oidc }: OidcTenant,
  issuer = oidc.issuer,
): Writer {
  return {
    tenant: id,
    by: issuer,
    actor: { kind: 'provider', name: new URL(issuer).host },
    ...(requestId === null ? {} : { requestId }),
    scope: { space: adminSpace, admin: true, all: false, permissions: [] },
    now: now(),
  }
}

/** The session of a browser's cookie, ended or not; null if the cookie is not valid. */
export async function sessionOfCookie(
  { sessions }: Context,
  rawHeaders: readonly string[],
): Promise<StoredSession | null> {
  const [text, ...others] = cookieValues(headerLines(rawHeaders, 'cookie'), SESSION_COOKIE)
  const handle = text === undefined || others.length > 0 ? null : parseCookieText(text)
  if (handle === null) return null
  const session = await sessions.sessionById(handle.tenant, handle.id)
  if (session === null || session.cookieHash === null) return null
  return areSameBytes(session.cookieHash, handle.hash) ? session : null
}
