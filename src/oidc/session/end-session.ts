/** Ends sessions, everywhere before it resolves. Called wherever one is over: logout, replay, the provider's no. */

import type { Context } from '../context.ts'
import { cookieValues, SESSION_COOKIE } from './cookies.ts'
import { parseCookieText, sameHash } from './handle.ts'
import type { StoredSession } from '../../../seats-admin/index.ts'

/** Resolves when no instance accepts it any more. Rejects when the store can't be asked. */
export async function endSession(context: Context, tenant: string, id: string): Promise<void> {
  const committed = await context.sessions.end(tenant, id, context.now())
  if (committed !== null) await context.announce(committed)
}

/** The session that a browser's cookie opens, ended or not; null where it opens none. */
export async function sessionOfCookie(
  { sessions }: Context,
  cookieLines: readonly string[],
): Promise<StoredSession | null> {
  const [text, ...others] = cookieValues(cookieLines, SESSION_COOKIE)
  const handle = text === undefined || others.length > 0 ? null : parseCookieText(text)
  if (handle === null) return null
  const session = await sessions.sessionById(handle.tenant, handle.id)
  if (session === null || session.cookieHash === null) return null
  return sameHash(session.cookieHash, handle.hash) ? session : null
}
