/** Bearer tokens of other issuers, of one configuration: connects `oidc/issuers` to authentication. */

import type { Config } from '../config/config.ts'
import type { OtherIssuer } from '../decision/authn/bearer.ts'
import { otherAudience } from '../oidc/issuers/issuer-token.ts'
import { Issuers } from '../oidc/issuers/issuers.ts'
import type { OidcLog } from '../oidc/ports.ts'

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
  const verify: OtherIssuer = async (text, requestId, resource) => {
    const token = await issuers.verify(text, requestId, resource)
    // A provider may be the issuer too, of tokens for another audience.
    const isOther = token === null || token === otherAudience
    return isOther ? ((await providerToken?.(text, requestId, resource)) ?? token) : token
  }
  return { verify, close: () => issuers.close() }
}
