/**
 * The gateway's own token: a JWT (RFC 7519) signed with the tenant's HMAC secret. Sign-in and `seatgate
 * token` mint it.
 */

import { SignJWT } from 'jose'
import type { TenantConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import type { TokenSubject, VerifiedToken } from '../../model/principal.ts'
import { readClaims } from './token-claims.ts'
import { matchesAlgorithm, isSigned, MAX_TOKEN, readJws } from './jws.ts'

/** The issuers whose tokens are accepted. */
export interface TokenIssuers {
  readonly tenants: ReadonlyMap<string, TenantConfig>
  /** The tenant of tokens without `tenant_id`; null: they are refused. */
  readonly defaultTenant: string | null
  /** Each `iss` whose tokens only the keys of that issuer verify; left out: none. */
  readonly reserved?: ReadonlySet<unknown>
}

const malformed = new Refusal(
  'token_invalid',
  'The bearer token is not a token of this gateway in canonical form. An API key belongs in x-api-key.',
)
const unverified = new Refusal(
  'token_invalid',
  'The signature of the token is not valid, or its tenant is unknown.',
)

/** The same for a token that names an issuer. */
const unverifiedIssuer = new Refusal(unverified.code, unverified.detail)

/**
 * Nothing of the token is verified, and it may name an issuer. Most of a flood of bad tokens need not be read
 * again.
 */
export function mayNameIssuer(refusal: Refusal): boolean {
  return refusal === malformed || refusal === unverifiedIssuer
}

const otherIssuer = new Refusal('token_invalid', 'The token names an issuer whose keys did not sign it.')

/**
 * Signs with the tenant's first secret.
 *
 * @param now ms since the epoch
 * @param lifetime ms, rounded up to whole seconds; left out: the tenant's own
 * @throws RangeError if the token would be longer than any that verifies
 */
export async function mintToken(
  tenant: TenantConfig,
  subject: TokenSubject,
  now: number,
  lifetime: number = tenant.token.lifetime,
): Promise<string> {
  const { secrets, algorithm } = tenant.token
  const [secret] = secrets
  if (secret === undefined) throw new Error(`tenant ${tenant.id} has no token secret`)
  const token = await new SignJWT({ ...claimsOf(tenant, subject, now, lifetime) })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .sign(secret)
  if (token.length > MAX_TOKEN) throw new RangeError(`the token would be over ${MAX_TOKEN} characters long`)
  return token
}

/** Unknown values are left out, rather than null or '' (OpenID Connect Core 1.0, section 5.3.2). */
function claimsOf(tenant: TenantConfig, subject: TokenSubject, now: number, lifetime: number) {
  const { sub, email, name, sid, scimKey, hashPerm, isSso = false } = subject
  const iat = Math.floor(now / 1000)
  return {
    sub,
    email,
    tenant_id: tenant.id,
    sid,
    scim_key: scimKey,
    is_sso: isSso,
    user_metadata: { email, name, sub },
    hash_perm: hashPerm,
    exp: iat + Math.ceil(lifetime / 1000),
    iat,
    nbf: iat,
  }
}

/**
 * Decodes the token and verifies its signature. The result holds as long as the configuration does:
 * `timeRefusal` checks the times.
 */
export function verifyToken(text: string, issuers: TokenIssuers): VerifiedToken | Refusal {
  const jws = readJws(text)
  if (jws === null) return malformed
  // A tenant's secret signs for no other issuer.
  if (issuers.reserved?.has(jws.payload.iss) === true) return otherIssuer
  // Before verification, the claimed tenant only selects the secrets that must have signed the token.
  const { tenant_id: tenantId = issuers.defaultTenant } = jws.payload
  const tenant = typeof tenantId === 'string' ? issuers.tenants.get(tenantId) : undefined
  if (tenant === undefined || !matchesAlgorithm(jws, tenant.token) || !isSigned(jws, tenant.token))
    return jws.payload.iss === undefined ? unverified : unverifiedIssuer
  const read = readClaims(jws.payload, tenant.id, tenant.token.leeway, tenant)
  return read instanceof Refusal ? read.of({ tenant: tenant.id, user: null }) : read
}
