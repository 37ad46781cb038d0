/**
 * Says what an ID token is worth here: its claims, the Seats it names, and the entries a token would have. Signs nobody
 * in and changes nothing. Called by the endpoint.
 */

import { Refusal } from '../../model/errors.ts'
import { asking, type Context, logged } from '../context.ts'
import { mapSeats } from './seat-mapping.ts'
import { verifyIdToken } from './id-token.ts'
import type { SignInResponse } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import { readSeatsClaim } from './seats-claim.ts'
import { isOfTenant, otherTenant } from './tenant-claim.ts'

export function validate(
  context: Context,
  provider: Provider,
  text: string,
): Promise<SignInResponse | Refusal> {
  return asking(context, provider, async () => {
    const { id, oidc } = provider.tenant
    const checks = {
      source: 'anybody',
      now: context.now(),
      nonce: null,
      accessToken: null,
      sub: null,
    } as const
    const token = await verifyIdToken(text, provider, checks)
    if (token instanceof Refusal) return token
    // There is no access token to ask userinfo with: the ID token itself must have the claim.
    if (!isOfTenant(oidc, token.claims)) return logged(context.log, id, otherTenant)
    const names = readSeatsClaim(token.claims, oidc.seatsClaim).names ?? []
    const seats = await mapSeats(context, id, names)
    const body = { valid: true, claims: token.claims, seats: seats.names, hash_perm: seats.hashPerm }
    return { status: 200, headers: [], body }
  })
}
