/** What `seatgate explain` says of a token without the claim that names Seats. */

import type { TenantConfig } from '../../config/config.ts'
import { readCompact } from './compact-jws.ts'
import { isLeftOut } from './id-token-claims.ts'

/**
 * Whether a token of the tenant's provider, or of one of its issuers, leaves out that claim. The token is not
 * verified.
 */
export function leavesOutGroups(
  token: string,
  { oidc, issuers = [] }: Pick<TenantConfig, 'oidc' | 'issuers'>,
): boolean {
  const claims = readCompact(token)?.claims ?? {}
  const senders = [...(oidc === null ? [] : [oidc]), ...issuers].filter(({ issuer }) => issuer === claims.iss)
  return senders.some(({ seatsClaim }) => seatsClaim !== null && isLeftOut(claims, seatsClaim))
}
