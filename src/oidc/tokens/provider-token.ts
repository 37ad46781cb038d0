/**
 * Verifies a bearer token that the provider signed, for tenants with `accept_provider_tokens`.
 *
 * Accepted: a JWT access token (`typ` `at+jwt`, RFC 9068, or `JWT`, as most providers write it) or an ID
 * token whose `aud` is the client id or a configured audience. An ID token proves only that a user signed in
 * to this client, not that its bearer may call this API; the setting declares that sufficient and is off by
 * default. Refused: tokens of another declared type (logout, security event, DPoP, refresh) and tokens bound
 * to a key (`cnf`, RFC 7800), because the bearer proves no possession of the key.
 */

import type { Refusal } from '../../model/errors.ts'
import { membershipClaims } from '../../model/membership.ts'
import type { AuthMethod, Principal, SeatClaims, VerifiedToken } from '../../model/principal.ts'
import {
  audiencesOf,
  checkSignature,
  type Claims,
  type CompactJws,
  invalidToken,
  readCompact,
} from './compact-jws.ts'
import { foreignSub } from '../../model/issuer-user.ts'
import { checkTimes, isIssuedTo, isSubject, isUserId, userOf } from './id-token.ts'
import { identityOf, isOfTenant, readSeatsClaim, scimClaim } from './id-token-claims.ts'
import { LEEWAY, type Provider } from '../provider/provider.ts'

/** ms after which the signature is verified again: the provider may withdraw its key. */
const REVERIFY = 10 * 60_000

const TYPES = new Set([null, 'jwt', 'at+jwt'])
/** Values of Keycloak's claim `typ`. */
const CLAIMED_TYPES = new Set([undefined, 'Bearer', 'ID'])

const otherType = invalidToken('The token is of a type that is not accepted.')
const otherParty = invalidToken('The token was issued to another party.')
const keyBound = invalidToken('The token is bound to a key, and the request proves no possession of it.')
const noSub = invalidToken('The token has no valid sub.')
export const ambiguous = invalidToken('The token matches more than one tenant.')

/** An accepted provider signed the token, whose claim names no tenant that has this provider. */
export class TokenOfNoTenant {
  /** The user for the log; null: the token has no valid `sub`. */
  readonly user: string | null

  constructor(user: string | null) {
    this.user = user
  }
}

/**
 * @param providers of the tenants that accept such tokens
 * @param resource the audience that it must have in place of those of its tenant; null: these
 * @returns null: the token is for none of them; TokenOfNoTenant: its claim names none of their tenants.
 *   Rejects with ProviderError if the provider's keys are unavailable.
 */
export async function verifyProviderToken(
  text: string,
  providers: readonly Provider[],
  now: number,
  resource: string | null = null,
): Promise<VerifiedToken | Refusal | TokenOfNoTenant | null> {
  const jws = readCompact(text)
  if (jws === null) return null
  // Before the signature check, issuer, audience and tenant claim only select the keys.
  const candidates = providers.filter(({ tenant }) => isFor(jws.claims, tenant.oidc, resource))
  const own = candidates.filter(({ tenant }) => isOfTenant(tenant.oidc, jws.claims))
  // A token of no tenant is known as one only after its signature was verified.
  const provider = own[0] ?? candidates[0]
  if (provider === undefined) return null
  if (own.length > 1) return ambiguous
  const forged = checkType(jws) ?? (await checkSignature(jws, provider, 'request'))
  if (forged !== null) return forged
  const user = userOf(jws.claims)
  const refusal = checkTimes(jws.claims, now) ?? (resource === null ? checkParty(jws.claims, provider) : null)
  // The refusal of a token without a tenant does not name the tenant whose keys verified it.
  if (own.length === 0) return refusal ?? new TokenOfNoTenant(user)
  return refusal?.of({ tenant: provider.tenant.id, user }) ?? toVerified(jws.claims, provider, now)
}

function isFor(claims: Claims, oidc: Provider['tenant']['oidc'], resource: string | null): boolean {
  if (!oidc.acceptProviderTokens || claims.iss !== oidc.issuer) return false
  const accepted = resource === null ? [oidc.clientId, ...oidc.audience] : [resource]
  return accepted.some((each) => audiencesOf(claims).includes(each))
}

/** `events` identifies a logout token without `typ` (OpenID Connect Back-Channel Logout 1.0, section 2.4). */
export function checkType({ type, claims }: CompactJws): Refusal | null {
  if (!TYPES.has(type) || !CLAIMED_TYPES.has(claims.typ as string) || claims.events !== undefined)
    return otherType
  return claims.cnf === undefined ? null : keyBound
}

/**
 * A token for a configured audience may be issued to any client. A token for the client id must have its
 * `azp`.
 */
function checkParty(claims: Claims, provider: Provider): Refusal | null {
  const { clientId, audience } = provider.tenant.oidc
  // Elements that are no texts do not count.
  const audiences = audiencesOf(claims).filter((each) => typeof each === 'string')
  if (audiences.some((each) => audience.includes(each))) return null
  return isIssuedTo(claims, clientId, audiences) ? null : otherParty
}

function toVerified(claims: Claims, { tenant }: Provider, now: number): VerifiedToken | Refusal {
  const { sub } = claims
  if (!isSubject(sub)) return isUserId(sub) ? foreignSub : noSub
  const { names } = readSeatsClaim(claims, tenant.oidc.seatsClaim)
  const membership = membershipClaims(tenant, sub, scimClaim(tenant, claims))
  const { email } = identityOf(sub, claims)
  const caller = { tenant: tenant.id, user: sub, email, names: names ?? [], membership }
  return verifiedToken(claims, caller, { method: 'bearer', now, cacheFor: REVERIFY })
}

/** The caller of a token of a provider, or of another issuer. */
interface TokenCaller extends Pick<Principal, 'tenant' | 'user' | 'email'> {
  /** Seat names of the claim; each request looks up their Seats and spaces. */
  readonly names: readonly string[]
  /** What gives the caller Seats instead of the names; null or left out: nothing. */
  readonly membership?: SeatClaims | null
}

/**
 * @param claims those of a token with a valid signature and valid times
 * @param options.now ms since the epoch
 * @param options.cacheFor ms after which the signature is verified again
 */
export function verifiedToken(
  claims: Claims,
  { tenant, user, email, names, membership = null }: TokenCaller,
  { method, now, cacheFor }: { readonly method: AuthMethod; readonly now: number; readonly cacheFor: number },
): VerifiedToken {
  const { exp, iat, nbf = 0 } = claims as { exp: number; iat: number; nbf?: number }
  const principal = Object.freeze({
    method,
    tenant,
    user,
    email,
    claims: membership ?? ({ by: 'any-space', names, issuedAt: Math.floor(iat) - LEEWAY } as const),
    owner: user,
    issuedAt: Math.floor(iat),
    session: null,
    validUntil: Math.min((exp + LEEWAY) * 1000, now + cacheFor),
  })
  return { principal, expiresAt: exp, validFrom: Math.max(Math.floor(iat), nbf), leeway: LEEWAY, cacheFor }
}
