/**
 * The claim that tells the tenants of one provider and client from each other: looked for wherever the provider's word
 * is taken. Without the setting every user of the provider is the tenant's. Pure.
 */

import type { OidcConfig } from '../../config/config.ts'
import { Refusal } from '../../model/errors.ts'
import type { Claims } from './compact-jws.ts'
import { claimAt } from './seats-claim.ts'

export const otherTenant = new Refusal(
  'token_invalid',
  'The identity provider does not say that the user belongs to this tenant.',
)

/** Whether the claim is to be asked for elsewhere (userinfo). */
export function lacksTenant(claims: Claims, { tenantClaim }: OidcConfig): boolean {
  return tenantClaim !== null && claimAt(claims, tenantClaim.name) === undefined
}

/** @param more claims of userinfo, for what the token lacks */
export function isOfTenant({ tenantClaim }: OidcConfig, claims: Claims, more: Claims = {}): boolean {
  if (tenantClaim === null) return true
  const { name, value } = tenantClaim
  const found = claimAt(claims, name) ?? claimAt(more, name)
  return found === value || (Array.isArray(found) && found.includes(value))
}
