/** The response with a gateway token, at the callback and at each refresh. */

import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import type { SignedIn } from '../session/open-session.ts'
import type { OidcTenant } from '../ports.ts'

const tooLong = new Refusal(
  'unavailable',
  "The user's Seats do not fit into a token. The tenant's administrator must grant fewer Seats, or Seats in fewer spaces.",
)

/** Signs the token. @returns a function that adds the refresh handle, or null for none */
export async function mintFor(
  { mint, log }: Context,
  tenant: OidcTenant,
  { identity, seats, issuedAt }: Pick<SignedIn, 'identity' | 'seats' | 'issuedAt'>,
) {
  const known = {
    ...(identity.email === null ? {} : { email: identity.email }),
    ...(identity.name === null ? {} : { name: identity.name }),
  }
  const { sub } = identity
  let token: string
  try {
    // Issued as of the time before the Seats were looked up; see `signIn` in `callback.ts`.
    token = await mint(tenant.id, { sub, ...known, hashPerm: seats.hashPerm, isSso: true }, issuedAt * 1000)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    log.error(
      { event: 'token_too_long', tenant: tenant.id, user: sub },
      'a user has more Seats than a token can hold',
    )
    return tooLong
  }
  return (handle: string | null) => ({
    access_token: token,
    token_type: 'Bearer',
    expires_in: Math.ceil(tenant.token.lifetime / 1000),
    ...(handle === null ? {} : { refresh_token: handle }),
    user: { sub, ...known, tenant_id: tenant.id, seats: seats.names },
  })
}
