/**
 * Checks `tenant_claim`, which distinguishes tenants that share a provider and a client. Without the setting every user of
 * the provider belongs to the tenant.
 */

import type { OidcConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import type { Claims } from './compact-jws.ts'
import { claimAt } from './seats-claim.ts'

export const otherTenant = new Refusal(
  'token_invalid',
  'The claims of the identity provider do not match this tenant.',
)

/** Whether userinfo must be queried for the claim. */
export function lacksTenant(claims: Claims, { tenantClaim }: OidcConfig): boolean {
  return tenantClaim !== null && claimAt(claims, tenantClaim.name) === undefined
}

/** @param more claims of userinfo, for claims that the token lacks */
export function isOfTenant({ tenantClaim }: OidcConfig, claims: Claims, more: Claims = {}): boolean {
  if (tenantClaim === null) return true
  const { name, value } = tenantClaim
  const found = claimAt(claims, name) ?? claimAt(more, name)
  return found === value || (Array.isArray(found) && found.includes(value))
}
