/** Reads the claims of ID tokens and userinfo: the user, the Seat names, the tenant. */

import type { SignedInIdentity } from '../../../seats-admin/model/user.ts'
import type { OidcConfig } from '../../config/config.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { SeatsSource } from '../../model/membership.ts'
import { type Claims, invalidToken } from './compact-jws.ts'

export type Identity = Omit<SignedInIdentity, 'at' | 'areGroupsLeftOut'>

const MAX_TEXT = 320

/** @param more claims of userinfo, for claims that the ID token lacks */
export function identityOf(sub: string, claims: Claims, more: Claims = {}): Identity {
  return {
    sub,
    email: emailOf(claims) ?? emailOf(more),
    name: textOf(claims.name) ?? textOf(more.name),
  }
}

/** An address that the provider marks as unverified is dropped: it may belong to another person. */
function emailOf({ email, email_verified: verified }: Claims): string | null {
  return verified === false || verified === 'false' ? null : textOf(email)
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT || !value.isWellFormed())
    return null
  return value
}

/**
 * Reads the Seat names, which `seat-mapping.ts` looks up: distinct ones in order; null if the claim is
 * absent, so that userinfo may have it. A claim is malformed that is not a string, an array of strings or
 * null.
 *
 * @param path as for `claimAt`
 */
export function readSeatsClaim(
  claims: Claims,
  path: string,
): { readonly names: readonly string[] | null; readonly malformed: boolean } {
  const value = claimAt(claims, path)
  if (value === undefined) return { names: null, malformed: false }
  if (value === null) return { names: [], malformed: false }
  if (typeof value === 'string') return { names: [value], malformed: false }
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    return { names: [], malformed: true }
  return { names: [...new Set<string>(value)], malformed: false }
}

/**
 * Whether the provider left out the claim for the number of its values, as Entra ID does with many groups: it
 * names a source instead (a distributed claim; OpenID Connect Core 1.0, section 5.6.2), or has `hasgroups`.
 * The gateway never fetches from a source: the token chooses its address.
 *
 * @param path as for `claimAt`
 */
export function isLeftOut(claims: Claims, path: string): boolean {
  const { _claim_names: sources, hasgroups } = claims
  if ((claimAt(claims, path) ?? null) !== null) return false
  if (path === 'groups' && (hasgroups === true || hasgroups === 'true')) return true
  return isJsonObject(sources) && Object.keys(sources).some((name) => `${path}.`.startsWith(`${name}.`))
}

export const otherTenant = invalidToken('The claims of the identity provider do not match this tenant.')

/** Whether userinfo must be queried for the claim of `tenant_claim`. */
export function lacksTenant(claims: Claims, { tenantClaim }: OidcConfig): boolean {
  return tenantClaim !== null && claimAt(claims, tenantClaim.name) === undefined
}

/**
 * Checks `tenant_claim`, which distinguishes tenants that share a provider and a client. Without the setting
 * every user of the provider belongs to the tenant.
 *
 * @param more claims of userinfo, for claims that the token lacks
 */
export function isOfTenant({ tenantClaim }: OidcConfig, claims: Claims, more: Claims = {}): boolean {
  if (tenantClaim === null) return true
  const { name, value } = tenantClaim
  return claimMatches(claimAt(claims, name) ?? claimAt(more, name), value)
}

/**
 * @param path the name of a claim, which may contain dots (`https://acme.example/roles`); otherwise a path
 *   through nested objects (`realm_access.roles`), whose names may contain dots too
 *   (`kubernetes.io.namespace`): the longest name counts
 * @returns undefined if the claim is absent
 */
export function claimAt(claims: Claims, path: string): unknown {
  const names = path.split('.')
  let at: unknown = claims
  for (let from = 0; from < names.length;) {
    // Own members only, so that `constructor` is not claim on the prototype.
    if (!isJsonObject(at)) return undefined
    let to = names.length
    while (to > from && !Object.hasOwn(at, names.slice(from, to).join('.'))) to--
    if (to === from) return undefined
    at = at[names.slice(from, to).join('.')]
    from = to
  }
  return at
}

/**
 * The claim that says who the user is in SCIM; undefined: it is absent, or the tenant has none.
 *
 * @param more claims of userinfo, for a claim that the token lacks
 */
export function scimClaim({ scim = null }: SeatsSource, claims: Claims, more: Claims = {}): unknown {
  const claim = scim?.user.claim ?? null
  return claim === null ? undefined : (claimAt(claims, claim) ?? claimAt(more, claim))
}

/** Whether the claim is the value, or a list that has it. */
export function claimMatches(claim: unknown, value: string | boolean): boolean {
  return claim === value || (Array.isArray(claim) && claim.includes(value))
}

/** Whether the value is an id that the provider chose: of a session, or of a token. */
export function isOpaqueId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed()
}
