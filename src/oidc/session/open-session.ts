/**
 * Creates the session of a sign-in: for a browser with a cookie, for a program with refresh handles. A
 * session whose user was logged out at the provider since the sign-in began ends at once; see
 * `provider-logout.ts`.
 */

import type { Context } from '../context.ts'
import { SESSION_COOKIE, setCookie } from './cookies.ts'
import type { MappedSeats } from '../tokens/seat-mapping.ts'
import { cookieText, handleText, newSecret, sha256 } from './session-credentials.ts'
import type { Identity } from '../tokens/id-token-claims.ts'
import type { Refusal } from '../../model/errors.ts'
import type { OidcTenant } from '../ports.ts'
import { endIfLoggedOut, providerSessionDigest } from './provider-logout.ts'
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

/** A sign-in that has just completed. */
export interface NewSignIn extends SignedIn {
  /** ms since the epoch: when the user was sent to the provider. */
  readonly startedAt: number
  /** The id of the session that it opens. */
  readonly session: string
  /** The provider's session; null if the ID token names none. */
  readonly providerSid: string | null
  /** The key of the user in SCIM, if a claim has it; else null. */
  readonly member: string | null
}

/** A session without its secrets, not stored yet. */
type NewSession = ReturnType<typeof newSession>

/** @returns a value for Set-Cookie, or a Refusal if the user was logged out during the sign-in */
export async function openBrowserSession(
  context: Context,
  tenant: OidcTenant,
  signedIn: NewSignIn,
): Promise<string | Refusal> {
  const [fresh, secret] = [newSession(tenant, signedIn), newSecret()]
  const session = { ...fresh, cookieHash: sha256(secret), familyHash: null, handleHash: null }
  const loggedOut = await create(context, tenant, session, signedIn)
  if (loggedOut !== null) return loggedOut
  const maxAge = Math.floor((session.expiresAt - signedIn.issuedAt * 1000) / 1000)
  return setCookie(SESSION_COOKIE, cookieText(tenant.id, session.id, secret), maxAge)
}

/** @returns the first refresh handle, or a Refusal if the user was logged out during the sign-in */
export async function openFamily(
  context: Context,
  tenant: OidcTenant,
  fresh: NewSession,
  signedIn: NewSignIn,
): Promise<string | Refusal> {
  const [family, rotating] = [newSecret(), newSecret()]
  const hashes = { cookieHash: null, familyHash: sha256(family), handleHash: sha256(rotating) }
  const loggedOut = await create(context, tenant, { ...fresh, ...hashes }, signedIn)
  return loggedOut ?? handleText(fresh.tenant, fresh.id, family, rotating)
}

async function create(
  context: Context,
  tenant: OidcTenant,
  session: StoredSession,
  { startedAt }: NewSignIn,
): Promise<Refusal | null> {
  await context.sessions.create(session)
  return endIfLoggedOut(context, tenant, session, startedAt)
}

/**
 * The Seats of a session are at most as old as a token's lifetime. Then they are mapped again with the
 * provider's refresh token; without one, the session expires.
 */
export function newSession(tenant: OidcTenant, signedIn: NewSignIn) {
  const { oidc, token } = tenant
  const { providerSid, member, session: id } = signedIn
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
    revoked: false,
    voidUntil: 0,
    sealed: sealProviderGrant(signedIn.providerGrant, tenant, id),
    providerSession: providerSid === null ? null : providerSessionDigest(oidc.issuer, providerSid),
    createdAt: since,
    ...(member === null ? {} : { member }),
  }
}

export function sealProviderGrant(providerGrant: ProviderGrant, tenant: OidcTenant, id: string): string {
  return seal(JSON.stringify(providerGrant), tenant.token.secrets, bindingOf(tenant, id))
}

/**
 * Includes the issuer, so that tokens are never sent to another provider that the tenant is configured with
 * later.
 */
function bindingOf({ id: tenant, oidc }: OidcTenant, id: string): string[] {
  return ['session', tenant, oidc.issuer, id]
}

/** @returns null if no current secret opens the grant, or the tenant's issuer has changed */
export function openProviderGrant(
  { id, sealed }: Pick<StoredSession, 'id' | 'sealed'>,
  tenant: OidcTenant,
): ProviderGrant | null {
  const text = open(sealed, tenant.token.secrets, bindingOf(tenant, id))
  return text === null ? null : (JSON.parse(text) as ProviderGrant)
}
