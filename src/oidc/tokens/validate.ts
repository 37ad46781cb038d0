/**
 * Verifies an ID token and reports its claims, its Seats and the `hash_perm` of a token. Creates no session and changes
 * nothing.
 */

import { Refusal } from '../../model/errors.ts'
import { withProviderErrors, type Context, logRefusal } from '../context.ts'
import { mapSeats } from './seat-mapping.ts'
import { verifyIdToken } from './id-token.ts'
import type { Reply } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import { readSeatsClaim } from './seats-claim.ts'
import { isOfTenant, otherTenant } from './tenant-claim.ts'

export function validate(context: Context, provider: Provider, text: string): Promise<Reply> {
  return withProviderErrors(context, provider, async () => {
    const { id, oidc } = provider.tenant
    const checks = {
      source: 'request',
      now: context.now(),
      nonce: null,
      accessToken: null,
      sub: null,
    } as const
    const token = await verifyIdToken(text, provider, checks)
    if (token instanceof Refusal) return token
    // Without an access token userinfo can't be queried: the ID token itself must contain the claim.
    if (!isOfTenant(oidc, token.claims)) return logRefusal(context.log, id, otherTenant)
    const names = readSeatsClaim(token.claims, oidc.seatsClaim).names ?? []
    const seats = await mapSeats(context, id, names)
    const body = { valid: true, claims: token.claims, seats: seats.names, hash_perm: seats.hashPerm }
    return { status: 200, headers: [], body }
  })
}
