/** Sessions of programs in a fleet's store, and their tokens, as after a sign-in. */

import { randomBytes } from 'node:crypto'
import type { Store } from '../../seats-admin/index.ts'
import { mintToken } from '../../src/decision/authn/token.ts'
import type { TenantConfig } from '../../src/config/config.ts'
import { providerSessionDigest } from '../../src/oidc/session/provider-logout.ts'
import { newSecret, newSessionId, sha256 } from '../../src/oidc/session/session-credentials.ts'

const HOUR = 3_600_000

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
  const [id, now] = [newSessionId(), Date.now()]
  await store.sessions.create({
    id,
    tenant: tenant.id,
    user,
    email: null,
    name: null,
    hashPerm,
    issuedAt: Math.floor(now / 1000),
    renewAt: now + HOUR,
    expiresAt: now + 8 * HOUR,
    endedAt: null,
    createdAt: now,
    cookieHash: null,
    familyHash: sha256(newSecret()),
    handleHash: sha256(newSecret()),
    providerSession: providerSessionDigest(issuer, providerSid),
    sealed: randomBytes(16).toString('base64url'),
  })
  return { id, token: await mintToken(tenant, { sub: user, sid: id, hashPerm }, now) }
}
