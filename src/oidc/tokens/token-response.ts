/** The answer that carries the gateway's own token: at the callback and at each refresh, in the same form. */

import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import type { SignedIn } from '../session/open-session.ts'
import type { OidcTenant } from '../ports.ts'

const tooLong = new Refusal(
  'unavailable',
  "The user's Seats do not fit into one token. The tenant's administrator has to grant fewer, or in fewer spaces.",
)

export interface TokenResponse {
  readonly access_token: string
  readonly token_type: 'Bearer'
  /** Seconds. */
  readonly expires_in: number
  readonly refresh_token?: string
  readonly user: {
    readonly sub: string
    readonly email?: string
    readonly name?: string
    readonly tenant_id: string
    readonly seats: readonly string[]
  }
}

/** Mints the token; what comes back makes the answer, once there is a refresh handle, or none (null). */
export async function mintFor(
  { mint, log }: Context,
  tenant: OidcTenant,
  { identity, seats, issuedAt }: Pick<SignedIn, 'identity' | 'seats' | 'issuedAt'>,
): Promise<((handle: string | null) => TokenResponse) | Refusal> {
  const known = {
    ...(identity.email === null ? {} : { email: identity.email }),
    ...(identity.name === null ? {} : { name: identity.name }),
  }
  const { sub } = identity
  let token: string
  try {
    // As of the moment before the Seats were looked up, and not of now: see `signIn` in `callback.ts`.
    token = await mint(tenant.id, { sub, ...known, hashPerm: seats.hashPerm, isSso: true }, issuedAt * 1000)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    log.error(
      { event: 'token_too_long', tenant: tenant.id, user: sub },
      'a user has more Seats than a token can carry',
    )
    return tooLong
  }
  return (handle) => ({
    access_token: token,
    token_type: 'Bearer',
    expires_in: Math.ceil(tenant.token.lifetime / 1000),
    ...(handle === null ? {} : { refresh_token: handle }),
    user: { sub, ...known, tenant_id: tenant.id, seats: seats.names },
  })
}
