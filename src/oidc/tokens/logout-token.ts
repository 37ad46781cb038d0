/**
 * Logout tokens (OpenID Connect Back-Channel Logout 1.0, sections 2.4 and 2.6).
 *
 * Anyone can send one, so everything that needs no key is checked before the signature: a flood of other
 * texts costs no cryptography and no request to the provider. An encrypted one costs at most four
 * decryptions, of half a millisecond each.
 */

import { isJsonObject } from '../../lib/json.ts'
import { Refusal } from '../../model/errors.ts'
import { checkSignature, type Claims, type CompactJws, invalidToken, readCompact } from './compact-jws.ts'
import { isOpaqueId } from './id-token-claims.ts'
import { checkAudience, checkTimes, isSubject } from './id-token.ts'
import { LEEWAY, type Provider } from '../provider/provider.ts'

export interface LogoutToken {
  /** The session at the provider; null: all sessions of `sub`. */
  readonly sid: string | null
  /** Null only beside `sid`. */
  readonly sub: string | null
  readonly jti: string
}

/** The most characters. A logout token names no groups. */
const MAX_TOKEN = 8 * 1024
/**
 * Seconds after `iat` that stand for a missing `exp`, which section 2.4 requires: glewlwyd and Hydra leave it
 * out.
 */
const DEFAULT_AGE = 120
/** Seconds after `iat`. Providers send the token at once, with an `exp` of about two minutes. */
const MAX_AGE = 3600
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** `JWT` and none are those of providers from before the type had a name (section 4.1). */
const TYPES = new Set([null, 'jwt', 'logout+jwt'])
/** Values of Keycloak's claim `typ`. */
const CLAIMED_TYPES = new Set<unknown>([undefined, 'Logout'])

const malformed = invalidToken('The logout token is not a signed JWT in canonical form.')
const otherType = invalidToken('The token is not a logout token.')
const withNonce = invalidToken('A logout token must not have a nonce.')
const invalidTimes = invalidToken('The logout token has expired, or has no valid exp and iat.')
const otherAudience = invalidToken('The logout token is for another client, or for further ones.')
const noSubject = invalidToken('The logout token must have a valid sid or sub.')
const noId = invalidToken('The logout token must have a valid jti.')

/** Reads the text without verifying it. */
export function readLogoutToken(text: string): CompactJws | Refusal {
  const jws = text.length > MAX_TOKEN ? null : readCompact(text)
  if (jws === null) return malformed
  const { claims } = jws
  if (!TYPES.has(jws.type) || !CLAIMED_TYPES.has(claims.typ)) return otherType
  if (!isJsonObject(claims.events) || !Object.hasOwn(claims.events, EVENT)) return otherType
  return isJsonObject(claims.events[EVENT]) ? jws : otherType
}

/**
 * Verifies a token of {@link readLogoutToken}. Rejects with ProviderError when the provider's keys are
 * unavailable.
 */
export async function verifyLogoutToken(
  jws: CompactJws,
  provider: Provider,
  now: number,
): Promise<LogoutToken | Refusal> {
  const { clientId } = provider.tenant.oidc
  const token = readClaims(jws.claims, now)
  if (token instanceof Refusal) return token
  if (checkAudience(jws.claims, clientId) !== null) return otherAudience
  return (await checkSignature(jws, provider, 'request')) ?? token
}

function readClaims(claims: Claims, now: number): LogoutToken | Refusal {
  const { sid = null, sub = null, jti, iat, nonce } = claims
  if (nonce !== undefined) return withNonce
  if (checkTimes(withExp(claims), now) !== null) return invalidTimes
  // Bounds how long a used token has to be remembered, whatever its `exp`.
  if (!(now / 1000 < Number(iat) + MAX_AGE + LEEWAY)) return invalidTimes
  if (!isOpaqueId(jti)) return noId
  if (sid === null && sub === null) return noSubject
  if ((sid !== null && !isOpaqueId(sid)) || (sub !== null && !isSubject(sub))) return noSubject
  return { sid, sub, jti }
}

function withExp(claims: Claims): Claims {
  const { iat, exp } = claims
  return exp === undefined && typeof iat === 'number' ? { ...claims, exp: iat + DEFAULT_AGE } : claims
}
