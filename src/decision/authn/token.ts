/**
 * The gateway's own token: a JWT (RFC 7519) with the tenant's HMAC secret. Minted for a sign-in and by
 * `seatgate token`; verified by `bearer.ts`.
 */

import { SignJWT } from 'jose'
import type { TenantConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import { readClaims, type VerifiedToken } from './claims.ts'
import { fits, isSigned, MAX_TOKEN, readJws } from './jws.ts'

/** Whom a new token is about. */
export interface TokenSubject {
  readonly sub: string
  readonly email?: string
  readonly name?: string
  /** `{space}:{seat}` entries. */
  readonly hashPerm: readonly string[]
  /** Whether an identity provider signed them in; false when left out. */
  readonly isSso?: boolean
}

/** Whose tokens are believed. */
export interface TokenIssuers {
  readonly tenants: ReadonlyMap<string, TenantConfig>
  /** For tokens that carry no `tenant_id`; null: they are refused. */
  readonly defaultTenant: string | null
}

const malformed = new Refusal(
  'token_invalid',
  'The bearer token is not one of this gateway in canonical form.',
)
const forged = new Refusal('token_invalid', 'The signature of the token, or its tenant, is not known here.')

/**
 * Signs with the tenant's first secret.
 *
 * @param now ms since the epoch
 * @param lifetime ms, rounded up to whole seconds; the tenant's own when left out
 * @throws RangeError when the token would be longer than any that verifies
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

/** What is not known has no member, rather than null or '' (OpenID Connect Core 1.0, section 5.3.2). */
function claimsOf(tenant: TenantConfig, subject: TokenSubject, now: number, lifetime: number) {
  const { sub, email, name, hashPerm, isSso = false } = subject
  const iat = Math.floor(now / 1000)
  return {
    sub,
    email,
    tenant_id: tenant.id,
    is_sso: isSso,
    user_metadata: { email, name, sub },
    hash_perm: hashPerm,
    exp: iat + Math.ceil(lifetime / 1000),
    iat,
    nbf: iat,
  }
}

/**
 * Reads the token and checks its signature. Whether it is valid *now* is left to `untimely`, so that the answer here
 * stays true for as long as the configuration does.
 */
export function verifyToken(text: string, issuers: TokenIssuers): VerifiedToken | Refusal {
  const jws = readJws(text)
  if (jws === null) return malformed
  // Before the signature is checked, the tenant a token claims only chooses the secrets that it must be signed with.
  const { tenant_id: tenantId = issuers.defaultTenant } = jws.payload
  const tenant = typeof tenantId === 'string' ? issuers.tenants.get(tenantId) : undefined
  if (tenant === undefined || !fits(jws, tenant.token) || !isSigned(jws, tenant.token)) return forged
  return readClaims(jws.payload, tenant.id, tenant.token.leeway)
}
