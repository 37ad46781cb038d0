/** The response with a gateway token, at the callback and at each refresh. */

import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import type { TokenAnswer } from '../sign-in-endpoints.ts'
import type { SignedIn } from '../session/open-session.ts'
import type { OidcTenant } from '../ports.ts'
import type { SessionRecord } from '../../../seats-admin/index.ts'

const tooLong = new Refusal(
  'unavailable',
  "The user's Seats do not fit into a token. The tenant's administrator must grant fewer Seats, or Seats in fewer spaces.",
)

/**
 * Signs the token, which ends with its session. It never expires after it.
 *
 * @param context {@link about} the session
 * @returns a function that adds the refresh handle, or null for none
 */
export async function mintFor(
  { mint, log }: Context,
  tenant: OidcTenant,
  { identity, seats, issuedAt }: Pick<SignedIn, 'identity' | 'seats' | 'issuedAt'>,
  session: Pick<SessionRecord, 'id' | 'expiresAt' | 'member'>,
) {
  const profile = {
    ...(identity.email === null ? {} : { email: identity.email }),
    ...(identity.name === null ? {} : { name: identity.name }),
  }
  const { sub } = identity
  // Issued as of the time before the Seats were looked up; see `signIn` in `callback.ts`.
  const now = issuedAt * 1000
  const lifetime = Math.max(0, Math.min(tenant.token.lifetime, session.expiresAt - now))
  const { id: sid, member } = session
  const scim = member === undefined ? {} : { scimKey: member }
  const subject = { sub, ...profile, sid, ...scim, hashPerm: seats.hashPerm, isSso: true }
  let token: string
  try {
    token = await mint(tenant.id, subject, now, lifetime)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    log.error({ event: 'token_too_long', tenant: tenant.id }, 'a user has more Seats than a token can hold')
    return tooLong
  }
  return (handle: string | null): TokenAnswer => ({
    access_token: token,
    token_type: 'Bearer',
    expires_in: Math.ceil(lifetime / 1000),
    ...(handle === null ? {} : { refresh_token: handle }),
    user: { sub, ...profile, tenant_id: tenant.id, seats: seats.names },
  })
}
