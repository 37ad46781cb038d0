/**
 * A bearer token that the provider signed, for tenants with `accept_provider_tokens`. Called by authentication where
 * the token is none of the gateway's own.
 *
 * What is accepted, and why: an access token in the form of a JWT (`typ` `at+jwt`, RFC 9068, or `JWT`, as most providers
 * write it) or an ID token, if its `aud` is the client id or an audience that the configuration names. An ID token is
 * no proof that its bearer may call this API, only that somebody signed in to this client; a tenant that switches this
 * on says that this is enough. It is never enough by default. What says of itself that it is something else (logout,
 * security event, DPoP, refresh) is refused, and so is a token bound to a key (`cnf`): its bearer has shown none.
 */

import { Refusal } from '../../model/errors.ts'
import { type Claims, type CompactJws, readCompact } from './compact-jws.ts'
import { checkTimes, isSubject } from './id-token.ts'
import { identityOf } from './identity.ts'
import { LEEWAY, type Provider } from '../provider/provider.ts'
import { readSeatsClaim } from './seats-claim.ts'
import { checkSignature } from './signature.ts'
import { isOfTenant, otherTenant } from './tenant-claim.ts'

/** Seconds since the epoch. */
export interface ProviderToken {
  readonly tenant: string
  readonly user: string
  readonly email: string | null
  /** Seat names as the claim has them; which exist, and where they hold, is looked up at each request. */
  readonly names: readonly string[]
  readonly issuedAt: number
  readonly expiresAt: number
  readonly validFrom: number
  readonly leeway: number
}

const TYPES = new Set([null, 'jwt', 'at+jwt'])
/** Keycloak's claim of that name. */
const CLAIMED_TYPES = new Set([undefined, 'Bearer', 'ID'])

const otherType = new Refusal('token_invalid', 'The token is of a type that is not accepted here.')
const otherParty = new Refusal('token_invalid', 'The token was issued to another party.')
const bound = new Refusal('token_invalid', 'The token is bound to a key, and its bearer has shown none.')
const noSub = new Refusal('token_invalid', 'The token does not say whom it is about.')
const ambiguous = new Refusal('token_invalid', 'The token could be for more than one tenant.')

/**
 * @param providers of the tenants that accept such tokens
 * @returns null when the token is for none of them: somebody else may know it. Rejects with ProviderTrouble when the
 *   provider's keys can't be had.
 */
export async function verifyProviderToken(
  text: string,
  providers: readonly Provider[],
  now: number,
): Promise<ProviderToken | Refusal | null> {
  const jws = readCompact(text)
  if (jws === null) return null
  // Before the signature is checked, issuer, audience and tenant only choose whose keys it must be signed with.
  const possible = providers.filter(({ tenant }) => isFor(jws.claims, tenant.oidc))
  const own = possible.filter(({ tenant }) => isOfTenant(tenant.oidc, jws.claims))
  // For none of the tenants: refused as such only when the provider did sign it.
  const provider = own[0] ?? possible[0]
  if (provider === undefined) return null
  if (own.length > 1) return ambiguous
  return (
    checkType(jws) ??
    (await checkSignature(jws, provider, 'anybody')) ??
    checkTimes(jws.claims, now) ??
    checkParty(jws.claims, provider) ??
    (own.length === 0 ? otherTenant : null) ??
    read(jws.claims, provider)
  )
}

function isFor(claims: Claims, oidc: Provider['tenant']['oidc']): boolean {
  if (!oidc.acceptProviderTokens || claims.iss !== oidc.issuer) return false
  return audiencesOf(claims).some((each) => each === oidc.clientId || oidc.audience.includes(each))
}

function audiencesOf({ aud }: Claims): string[] {
  return (Array.isArray(aud) ? aud : [aud]).filter((each) => typeof each === 'string')
}

/** A logout token (OpenID Connect Back-Channel Logout 1.0, section 2.4) is known by `events` where it has no type. */
function checkType({ type, claims }: CompactJws): Refusal | null {
  if (!TYPES.has(type) || !CLAIMED_TYPES.has(claims.typ as string) || claims.events !== undefined)
    return otherType
  return claims.cnf === undefined ? null : bound
}

/** One that is for us as a client must be ours in `azp` too; one for our API may have been issued to any client. */
function checkParty(claims: Claims, provider: Provider): Refusal | null {
  const { clientId, audience } = provider.tenant.oidc
  const audiences = audiencesOf(claims)
  if (audiences.some((each) => audience.includes(each))) return null
  return claims.azp === undefined
    ? audiences.length > 1
      ? otherParty
      : null
    : claims.azp === clientId
      ? null
      : otherParty
}

function read(claims: Claims, { tenant }: Provider): ProviderToken | Refusal {
  const { sub, iat, exp, nbf = 0 } = claims
  if (!isSubject(sub)) return noSub
  const issuedAt = Math.floor(iat as number)
  const { names } = readSeatsClaim(claims, tenant.oidc.seatsClaim)
  return {
    tenant: tenant.id,
    user: sub,
    email: identityOf(sub, claims).email,
    names: names ?? [],
    issuedAt,
    expiresAt: exp as number,
    validFrom: Math.max(issuedAt, nbf as number),
    leeway: LEEWAY,
  }
}
