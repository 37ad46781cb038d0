/** Sessions of programs in a fleet's store, and their tokens, as after a sign-in. */

import type { Store } from '../../seats-admin/index.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import type { TenantConfig } from '../../src/config/config.ts'
import { providerSessionDigest } from '../../src/oidc/session/provider-logout.ts'
import { family, HOUR } from '../seats-admin/store/session-records.ts'

export interface NewSession {
  readonly user: string
  /** The session at the provider. */
  readonly providerSid: string
  readonly hashPerm: readonly string[]
}

/** Rejects when the store is unavailable. */
export async function createSession(
  store: Store,
  tenant: TenantConfig,
  issuer: string,
  { user, providerSid, hashPerm }: NewSession,
): Promise<{ id: string; token: string }> {
  const now = Date.now()
  const times = { issuedAt: Math.floor(now / 1000), renewAt: now + HOUR, expiresAt: now + 8 * HOUR }
  const providerSession = providerSessionDigest(issuer, providerSid)
  const session = family({ tenant: tenant.id, user, hashPerm, ...times, createdAt: now, providerSession })
  await store.sessions.create(session)
  return { id: session.id, token: await mintToken(tenant, { sub: user, sid: session.id, hashPerm }, now) }
}
