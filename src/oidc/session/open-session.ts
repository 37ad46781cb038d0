/** What a sign-in opens: a session for a browser, or a family of refresh handles for a program. */

import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { Context } from '../context.ts'
import { SESSION_COOKIE, setCookie } from './cookies.ts'
import type { MappedSeats } from '../tokens/seat-mapping.ts'
import { cookieText, handleText, newSecret, newSessionId, sha256 } from './handle.ts'
import type { Identity } from '../tokens/identity.ts'
import type { OidcTenant } from '../ports.ts'
import { open, seal } from './seal.ts'
import type { StoredSession } from '../../../seats-admin/index.ts'

/** What the provider gave, as far as it is needed again. */
export interface ProviderGrant {
  readonly refreshToken: string | null
  /** For signing out there (`id_token_hint`). */
  readonly idToken: string | null
  /** A refreshed ID token may carry no other. */
  readonly nonce: string
}

export interface SignedIn {
  readonly identity: Identity
  readonly seats: MappedSeats
  readonly providerGrant: ProviderGrant
  /** Whole seconds, from before the Seats were looked up. */
  readonly issuedAt: number
}

/** @returns a value for Set-Cookie */
export async function openBrowserSession(
  { sessions }: Context,
  tenant: OidcTenant,
  who: SignedIn,
): Promise<string> {
  const [id, secret] = [newSessionId(), newSecret()]
  const session = {
    ...rowOf(tenant, id, who),
    cookieHash: sha256(secret),
    familyHash: null,
    handleHash: null,
  }
  await sessions.create(session)
  const maxAge = Math.floor((session.expiresAt - who.issuedAt * 1000) / 1000)
  return setCookie(SESSION_COOKIE, cookieText(tenant.id, id, secret), maxAge)
}

/** @returns the first refresh handle */
export async function openFamily({ sessions }: Context, tenant: OidcTenant, who: SignedIn): Promise<string> {
  const [id, family, rotating] = [newSessionId(), newSecret(), newSecret()]
  await sessions.create({
    ...rowOf(tenant, id, who),
    cookieHash: null,
    familyHash: sha256(family),
    handleHash: sha256(rotating),
  })
  return handleText(tenant.id, id, family, rotating)
}

/**
 * Seats in a session are never older than a token may be: after that they are mapped afresh with the provider's refresh
 * token, and where it gave none, the session is over.
 */
function rowOf(tenant: OidcTenant, id: string, who: SignedIn) {
  const { oidc, token } = tenant
  const since = who.issuedAt * 1000
  const renewable = who.providerGrant.refreshToken !== null
  const lifetime = renewable ? oidc.sessionLifetime : Math.min(oidc.sessionLifetime, token.lifetime)
  return {
    id,
    tenant: tenant.id,
    user: who.identity.sub,
    email: who.identity.email,
    name: who.identity.name,
    hashPerm: who.seats.hashPerm,
    issuedAt: who.issuedAt,
    renewAt: since + token.lifetime,
    expiresAt: since + lifetime,
    endedAt: null,
    sealed: sealProviderGrant(who.providerGrant, tenant, id),
  }
}

export function sealProviderGrant(providerGrant: ProviderGrant, tenant: OidcTenant, id: string): string {
  return seal(JSON.stringify(providerGrant), tenant.token.secrets, placeOf(tenant, id))
}

/** With its issuer: what one provider gave is not shown to another that the tenant has since. */
function placeOf({ id: tenant, oidc }: OidcTenant, id: string): string[] {
  return ['session', tenant, oidc.issuer, id]
}

/** Null when none of the tenant's secrets opens it: they were all changed since, or the provider is another one. */
export function openProviderGrant(
  { id, sealed }: Pick<StoredSession, 'id' | 'sealed'>,
  tenant: OidcTenant,
): ProviderGrant | null {
  const text = open(sealed, tenant.token.secrets, placeOf(tenant, id))
  const parsed = text === null ? { fault: 'sealed' } : parseJson(text)
  if ('fault' in parsed || !isJsonObject(parsed.value)) return null
  const { refreshToken, idToken, nonce } = parsed.value
  return {
    refreshToken: textOrNull(refreshToken),
    idToken: textOrNull(idToken),
    nonce: textOrNull(nonce) ?? '',
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
