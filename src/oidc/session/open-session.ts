/** Creates the session of a sign-in: for a browser with a cookie, for a program with refresh handles. */

import type { Context } from '../context.ts'
import { SESSION_COOKIE, setCookie } from './cookies.ts'
import type { MappedSeats } from '../tokens/seat-mapping.ts'
import { cookieText, handleText, newSecret, newSessionId, sha256 } from './session-credentials.ts'
import type { Identity } from '../tokens/claims.ts'
import type { OidcTenant } from '../ports.ts'
import { open, seal } from '../seal.ts'
import type { StoredSession } from '../../../seats-admin/index.ts'

/** The provider's tokens that later steps need. */
export interface ProviderGrant {
  readonly refreshToken: string | null
  /** The `id_token_hint` of a logout. */
  readonly idToken: string | null
  /** A refreshed ID token must not contain another. */
  readonly nonce: string
}

export interface SignedIn {
  readonly identity: Identity
  readonly seats: MappedSeats
  readonly providerGrant: ProviderGrant
  /** Whole seconds since the epoch, taken before the Seats were looked up. */
  readonly issuedAt: number
}

/** @returns a value for Set-Cookie */
export async function openBrowserSession(
  { sessions }: Context,
  tenant: OidcTenant,
  signedIn: SignedIn,
): Promise<string> {
  const [id, secret] = [newSessionId(), newSecret()]
  const session = {
    ...rowOf(tenant, id, signedIn),
    cookieHash: sha256(secret),
    familyHash: null,
    handleHash: null,
  }
  await sessions.create(session)
  const maxAge = Math.floor((session.expiresAt - signedIn.issuedAt * 1000) / 1000)
  return setCookie(SESSION_COOKIE, cookieText(tenant.id, id, secret), maxAge)
}

/** @returns the first refresh handle */
export async function openFamily(
  { sessions }: Context,
  tenant: OidcTenant,
  signedIn: SignedIn,
): Promise<string> {
  const [id, family, rotating] = [newSessionId(), newSecret(), newSecret()]
  await sessions.create({
    ...rowOf(tenant, id, signedIn),
    cookieHash: null,
    familyHash: sha256(family),
    handleHash: sha256(rotating),
  })
  return handleText(tenant.id, id, family, rotating)
}

/**
 * The Seats of a session are at most as old as a token's lifetime. Then they are mapped again with the provider's refresh
 * token; without one, the session expires.
 */
function rowOf(tenant: OidcTenant, id: string, signedIn: SignedIn) {
  const { oidc, token } = tenant
  const since = signedIn.issuedAt * 1000
  const renewable = signedIn.providerGrant.refreshToken !== null
  const lifetime = renewable ? oidc.sessionLifetime : Math.min(oidc.sessionLifetime, token.lifetime)
  return {
    id,
    tenant: tenant.id,
    user: signedIn.identity.sub,
    email: signedIn.identity.email,
    name: signedIn.identity.name,
    hashPerm: signedIn.seats.hashPerm,
    issuedAt: signedIn.issuedAt,
    renewAt: since + token.lifetime,
    expiresAt: since + lifetime,
    endedAt: null,
    sealed: sealProviderGrant(signedIn.providerGrant, tenant, id),
  }
}

export function sealProviderGrant(providerGrant: ProviderGrant, tenant: OidcTenant, id: string): string {
  return seal(JSON.stringify(providerGrant), tenant.token.secrets, bindingOf(tenant, id))
}

/** Includes the issuer, so that tokens are never sent to another provider that the tenant is configured with later. */
function bindingOf({ id: tenant, oidc }: OidcTenant, id: string): string[] {
  return ['session', tenant, oidc.issuer, id]
}

/** @returns null when no current secret opens the grant, or the tenant's issuer has changed */
export function openProviderGrant(
  { id, sealed }: Pick<StoredSession, 'id' | 'sealed'>,
  tenant: OidcTenant,
): ProviderGrant | null {
  const text = open(sealed, tenant.token.secrets, bindingOf(tenant, id))
  return text === null ? null : (JSON.parse(text) as ProviderGrant)
}
