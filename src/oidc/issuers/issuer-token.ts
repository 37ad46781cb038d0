/**
 * Verifies a bearer token of another issuer: by the issuer's keys, `iss` and `aud`, each claim of `match`,
 * and its times. Refused as for the tokens of a provider: other declared types, and tokens bound to a key
 * (`provider-token.ts`).
 */

import type { ClaimMatch, IssuerConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import { issuerUser } from '../../model/issuer-user.ts'
import type { VerifiedToken } from '../../model/principal.ts'
import { ProviderError } from '../provider/provider-errors.ts'
import { claimAt, claimMatches, readSeatsClaim } from '../tokens/id-token-claims.ts'
import {
  audiencesOf,
  checkSignature,
  type Claims,
  type CompactJws,
  invalidToken,
  readCompact,
  type Signer,
} from '../tokens/compact-jws.ts'
import { checkTimes, isUserId } from '../tokens/id-token.ts'
import { ambiguous, checkType, verifiedToken } from '../tokens/provider-token.ts'
import { REVERIFY } from './token-issuer.ts'

/** An entry of a tenant's `issuers`. */
export interface AcceptedIssuer extends Signer {
  readonly tenant: string
  readonly config: IssuerConfig
}

/** The keys of an issuer are unavailable: nothing is known of its token. */
export class IssuerOutage {
  readonly issuer: AcceptedIssuer
  readonly cause: ProviderError

  constructor(issuer: AcceptedIssuer, cause: ProviderError) {
    this.issuer = issuer
    this.cause = cause
  }
}

export const otherAudience = invalidToken('The token is for another audience.')
const otherClaims = invalidToken('The claims of the token are not those of match.')
const tooLong = invalidToken('The token is valid for longer than its issuer may make it.')
const noUser = invalidToken(
  'The token names no user, or a user that is longer than 255 characters with its issuer.',
)
const unreadableSeats = invalidToken('The claim that names Seats is neither a text nor a list of texts.')

/**
 * @param now ms since the epoch
 * @param resource the audience that it must have in place of that of its issuer; null: that
 * @returns null if the token is of none of the issuers
 */
export async function verifyIssuerToken(
  text: string,
  issuers: readonly AcceptedIssuer[],
  now: number,
  resource: string | null = null,
): Promise<VerifiedToken | Refusal | IssuerOutage | null> {
  const jws = readCompact(text)
  if (jws === null) return null
  // Before the signature check, the claims only select the keys.
  const { claims } = jws
  const own = issuers.filter(({ config }) => config.issuer === claims.iss)
  if (own.length === 0) return null
  const candidates = own.filter(({ config }) => isForAudience(claims, resource ?? config.audience))
  const matching = candidates.filter(({ config }) => config.match.every((each) => matches(claims, each)))
  const issuer = matching[0] ?? candidates[0]
  if (issuer === undefined) return otherAudience
  if (matching.length > 1) return ambiguous
  const forged = checkType(jws) ?? (await signatureRefusal(jws, issuer))
  if (forged !== null) return forged
  const result = matching.length === 0 ? refusalOfClaims(claims, candidates) : toToken(claims, issuer, now)
  if (!(result instanceof Refusal) || (matching.length === 0 && candidates.length > 1)) return result
  // The issuer signed it for one entry alone: the log says whose it is.
  return result.of({ tenant: issuer.tenant, user: userOf(claims, issuer.config) })
}

/**
 * The refusal of a token that no entry of `match` accepts. It names the claim if the token is for one entry
 * alone: the name of the claim is no secret, its value may be.
 */
function refusalOfClaims(claims: Claims, [first, ...others]: readonly AcceptedIssuer[]): Refusal {
  const other = first?.config.match.find((each) => !matches(claims, each))
  if (other === undefined || others.length > 0) return otherClaims
  return invalidToken(
    `The claim ${other.name} of the token does not have the value that the configuration requires of it (match).`,
  )
}

async function signatureRefusal(
  jws: CompactJws,
  issuer: AcceptedIssuer,
): Promise<Refusal | IssuerOutage | null> {
  try {
    return await checkSignature(jws, issuer, 'request')
  } catch (cause) {
    if (cause instanceof ProviderError) return new IssuerOutage(issuer, cause)
    throw cause
  }
}

/** A list with other elements than texts is no audience (RFC 7519, section 4.1.3). */
function isForAudience(claims: Claims, audience: string): boolean {
  const audiences = audiencesOf(claims)
  return audiences.includes(audience) && audiences.every((each) => typeof each === 'string')
}

function matches(claims: Claims, { name, value }: ClaimMatch): boolean {
  return claimMatches(claimAt(claims, name), value)
}

/** The user, at most as long as one that can be blocked; null: the token names none. */
function userOf(claims: Claims, { issuer, userClaim }: IssuerConfig): string | null {
  const name = claimAt(claims, userClaim)
  const user = typeof name === 'string' && name !== '' ? issuerUser(issuer, name) : null
  return isUserId(user) ? user : null
}

function toToken(claims: Claims, { tenant, config }: AcceptedIssuer, now: number): VerifiedToken | Refusal {
  const untimely = checkTimes(claims, now)
  if (untimely !== null) return untimely
  const { exp, iat } = claims as { exp: number; iat: number }
  if (!((exp - iat) * 1000 <= config.maxLifetime)) return tooLong
  const user = userOf(claims, config)
  if (user === null) return noUser
  const names = seatNames(claims, config)
  if (names === null) return unreadableSeats
  const caller = { tenant, user, email: null, names }
  return verifiedToken(claims, caller, { method: 'issuer', now, cacheFor: REVERIFY })
}

/** Null: the claim is malformed. */
function seatNames(claims: Claims, { seats, seatsClaim }: IssuerConfig): readonly string[] | null {
  if (seats !== null || seatsClaim === null) return seats ?? []
  const { names, malformed } = readSeatsClaim(claims, seatsClaim)
  return malformed ? null : (names ?? [])
}
