/** Bearer tokens of other issuers, of one configuration: connects `oidc/issuers` to authentication. */

import type { Config } from '../config/config.ts'
import type { OtherIssuer } from '../decision/authn/bearer.ts'
import type { VerifiedToken } from '../decision/authn/token-claims.ts'
import { Refusal } from '../model/errors.ts'
import type { AuthMethod } from '../model/principal.ts'
import { otherAudience } from '../oidc/issuers/issuer-token.ts'
import { Issuers } from '../oidc/issuers/issuers.ts'
import { REVERIFY } from '../oidc/issuers/token-issuer.ts'
import type { OidcLog } from '../oidc/ports.ts'
import type { ProviderToken } from '../oidc/tokens/provider-token.ts'

export interface OtherIssuers {
  readonly verify: OtherIssuer
  /** Resolves once no request to an issuer is in flight. */
  readonly close: () => Promise<void>
}

/** @param providerToken verifies tokens of the tenants' providers; null: they are not accepted */
export function openOtherIssuers(
  { tenants, providerProxies: proxies, providerLimits }: Config,
  log: OidcLog,
  providerToken: OtherIssuer | null,
): OtherIssuers {
  const issuers = new Issuers(tenants.values(), {
    log,
    now: Date.now,
    limits: { ...providerLimits, proxies },
  })
  const verify: OtherIssuer = async (text, requestId) => {
    const token = await issuers.verify(text, requestId)
    // A provider may be the issuer too, of tokens for another audience.
    if (token === null || token === otherAudience) return (await providerToken?.(text, requestId)) ?? token
    return token instanceof Refusal ? token : verifiedToken(token, 'issuer', REVERIFY)
  }
  return { verify, close: () => issuers.close() }
}

/** @param cacheFor ms after which the signature is verified again */
export function verifiedToken(
  { tenant, user, email, names, issuedAt, expiresAt, validFrom, leeway }: ProviderToken,
  method: AuthMethod,
  cacheFor: number,
): VerifiedToken {
  const claims = { by: 'any-space', names, issuedAt: Math.floor(issuedAt - leeway) } as const
  const validUntil = Math.min((expiresAt + leeway) * 1000, Date.now() + cacheFor)
  const principal = Object.freeze({ method, tenant, user, email, claims, session: null, validUntil })
  return { principal, expiresAt, validFrom, leeway, cacheFor }
}
