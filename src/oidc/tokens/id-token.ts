/**
 * Verifies an ID token by OpenID Connect Core 1.0, section 3.1.3.7. The signature is checked before the
 * claims.
 */

import { createHash } from 'node:crypto'
import { areSameBytes } from '../../lib/same-bytes.ts'
import { Refusal } from '../../model/errors.ts'
import { foreignSub, isIssuerUser, shownIssuer } from '../../model/issuer-user.ts'
import { hashOf } from '../provider/algorithms.ts'
import {
  audiencesOf,
  checkSignature,
  type Claims,
  type CompactJws,
  invalidToken,
  readCompact,
} from './compact-jws.ts'
import { isEncrypted } from './encrypted-token.ts'
import type { TokenSource } from '../provider/jwks.ts'
import { LEEWAY, type Provider } from '../provider/provider.ts'

export interface IdTokenChecks {
  readonly source: TokenSource
  /** ms since the epoch */
  readonly now: number
  /** The nonce of the authorization request; null: not known (`validate`), and not checked. */
  readonly nonce: string | null
  /** A refreshed ID token may omit the nonce, but must not contain another (Core 1.0, section 12.2). */
  readonly nonceOptional?: boolean
  /** The access token of the same response, for `at_hash`; null without one. */
  readonly accessToken: string | null
  /** The required `sub`; null at sign-in. */
  readonly sub: string | null
}

const malformed = invalidToken('The ID token is not a signed JWT in canonical form.')
const encrypted = invalidToken(
  'The ID token is encrypted, and the tenant has no decryption_keys: add them, or have the provider only sign ID tokens of this client.',
)
const notIdToken = invalidToken('The token is not an ID token.')
const otherAudience = invalidToken('The ID token is for another client.')
const otherParty = invalidToken('The ID token was issued to another party.')
const invalidTimes = invalidToken('The ID token must have exp and iat, and its times must be finite numbers.')
const expired = new Refusal('token_expired', 'The ID token has expired.')
const notYetValid = new Refusal(
  'token_not_yet_valid',
  'The ID token is not valid yet, or was issued in the future.',
)
const otherNonce = invalidToken('The ID token is not for this sign-in.')
const otherAccessToken = invalidToken('The ID token belongs to another access token.')
const noSub = invalidToken('The ID token has no valid sub.')
const otherSub = invalidToken('The ID token has a different sub.')

/**
 * The claims, and the text of the signed token, which was decrypted if necessary. Rejects with ProviderError
 * when the provider's keys are unavailable.
 */
export async function verifyIdToken(text: string, provider: Provider, checks: IdTokenChecks) {
  const signed = isEncrypted(text) ? await decrypted(text, provider) : text
  if (signed instanceof Refusal) return signed
  const jws = readCompact(signed)
  if (jws === null) return malformed
  if (jws.type !== null && jws.type !== 'jwt') return notIdToken
  const forged = await checkSignature(jws, provider, checks.source)
  if (forged !== null) return forged
  const verified = checkClaims(jws, provider, checks)
  // The provider signed it: the log says whose it is.
  return verified instanceof Refusal
    ? verified.of({ tenant: provider.tenant.id, user: userOf(jws.claims) })
    : verified
}

function decrypted(text: string, { decryptionKeys }: Provider): Promise<string | Refusal> | Refusal {
  return decryptionKeys.isEmpty ? encrypted : decryptionKeys.decrypt(text)
}

function checkClaims(jws: CompactJws, provider: Provider, checks: IdTokenChecks) {
  const { claims } = jws
  const { issuer, clientId } = provider.tenant.oidc
  if (claims.iss !== issuer) return otherIssuer(claims.iss, issuer)
  if (isOtherType(claims)) return notIdToken
  const refusal =
    checkAudience(claims, clientId) ?? checkTimes(claims, checks.now) ?? checkNonce(claims, checks)
  if (refusal !== null) return refusal
  if (!matchesAccessToken(jws, checks.accessToken)) return otherAccessToken
  if (!isUserId(claims.sub)) return noSub
  if (!isSubject(claims.sub)) return foreignSub
  if (checks.sub !== null && claims.sub !== checks.sub) return otherSub
  return { claims, sub: claims.sub, text: jws.text }
}

/**
 * The refusal of a verified token of another issuer. The address of the tenant's sign-in has its provider's
 * issuer too.
 */
function otherIssuer(iss: unknown, issuer: string): Refusal {
  const named = typeof iss === 'string' ? `names the issuer ${shownIssuer(iss)}` : 'names no issuer'
  return invalidToken(`The ID token ${named}. The issuer of the tenant's provider is ${shownIssuer(issuer)}.`)
}

/**
 * Recognizes other tokens of the provider for this client that have no distinct `typ` header: a logout token
 * has `events` (Back-Channel Logout 1.0, section 2.4); Keycloak writes the type into the claim `typ`.
 */
function isOtherType({ events, typ }: Claims): boolean {
  return events !== undefined || (typ !== undefined && typ !== 'ID')
}

/** `azp`, if present, must be this client. With several audiences it is required. */
export function checkAudience(claims: Claims, clientId: string): Refusal | null {
  const audiences = audiencesOf(claims)
  if (!audiences.includes(clientId) || !audiences.every((each) => typeof each === 'string'))
    return otherAudience
  return isIssuedTo(claims, clientId, audiences) ? null : otherParty
}

/** Whether the token was issued to the client. With a single audience, `azp` may be left out. */
export function isIssuedTo({ azp }: Claims, clientId: string, audiences: readonly unknown[]): boolean {
  return azp === undefined ? audiences.length === 1 : azp === clientId
}

/** `exp` and `iat` are required, `nbf` is optional. JSON allows 1e400, which parses as Infinity: refused. */
export function checkTimes({ exp, iat, nbf = 0 }: Claims, now: number): Refusal | null {
  if (!isTime(exp) || !isTime(iat) || !isTime(nbf)) return invalidTimes
  const seconds = now / 1000
  if (!(seconds < exp + LEEWAY)) return expired
  if (!(Math.max(iat, nbf) <= seconds + LEEWAY)) return notYetValid
  return null
}

function isTime(value: unknown): value is number {
  return Number.isFinite(value)
}

function checkNonce({ nonce }: Claims, checks: IdTokenChecks): Refusal | null {
  if (checks.nonce === null || (nonce === undefined && checks.nonceOptional === true)) return null
  return nonce === checks.nonce ? null : otherNonce
}

/** `at_hash`, if present, is the left half of the access token's hash (Core 1.0, section 3.1.3.6). */
function matchesAccessToken({ claims, algorithm }: CompactJws, accessToken: string | null): boolean {
  const { at_hash: claimed } = claims
  if (claimed === undefined || accessToken === null) return true
  const hash = hashOf(algorithm)
  if (typeof claimed !== 'string' || hash === null) return false
  const whole = createHash(hash).update(accessToken, 'ascii').digest()
  const half = whole.subarray(0, whole.length / 2).toString('base64url')
  return areSameBytes(Buffer.from(claimed), Buffer.from(half))
}

/** Characters (Core 1.0, section 2). */
const MAX_SUB = 255
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** The user of a token that the provider signed, for the log; null: it names none. */
export function userOf({ sub }: Claims): string | null {
  return isSubject(sub) ? sub : null
}

/** Whether a provider can have a user with this id. */
export function isSubject(value: unknown): value is string {
  return isUserId(value) && !isIssuerUser(value)
}

/** Whether the value is a usable user id: a non-empty bounded string, safe in headers and log lines. */
export function isUserId(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_SUB &&
    value.isWellFormed() &&
    !CONTROL.test(value)
  )
}
