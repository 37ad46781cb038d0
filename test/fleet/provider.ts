/** The identity provider of a fleet's tenant, the sessions of its users, and the logout tokens that it would send. */

import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import type { Store } from '../../seats-admin/index.ts'
import type { TenantConfig } from '../../src/config/config.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { providerSessionDigest } from '../../src/oidc/session/provider-logout.ts'
import { type Claims, CLIENT, HostileProvider } from '../oidc/hostile-provider.ts'
import { family, HOUR } from '../seats-admin/store/session-records.ts'

export interface NewSession {
  readonly user: string
  /** The session at the provider. */
  readonly providerSid: string
  readonly hashPerm: readonly string[]
}

export type LogoutProvider = Awaited<ReturnType<typeof startLogoutProvider>>

/** @param more settings of the section `oidc:` */
export async function startLogoutProvider(t: Test, more: readonly string[] = []) {
  const provider = await HostileProvider.start(t)
  const { issuer } = provider
  const redirectUri = 'https://gw.example/auth/oidc/callback'
  const settings = [`issuer: "${issuer}"`, `client_id: ${CLIENT}`, `redirect_uri: "${redirectUri}"`, ...more]
  return {
    issuer,
    /** The tenant's section `oidc:`, on one line. */
    settings: `{ ${settings.join(', ')}, allow_insecure: true }`,
    sign: (claims: Claims, header: Claims = {}) => provider.sign(claims, header),
    /** A token about a session at the provider, or about a user. */
    logoutToken(about: { readonly sid: string } | { readonly sub: string }): Promise<string> {
      const iat = Math.floor(Date.now() / 1000)
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
      const claims = { iss: issuer, aud: CLIENT, iat, exp: iat + 120, jti: randomUUID(), events, ...about }
      return provider.sign(claims, { typ: 'logout+jwt' })
    },
    /** A program's session, as after a sign-in, and its token. Rejects when the store is unavailable. */
    async session(store: Store, tenant: TenantConfig, { user, providerSid, hashPerm }: NewSession) {
      const now = Date.now()
      const times = { issuedAt: Math.floor(now / 1000), renewAt: now + HOUR, expiresAt: now + 8 * HOUR }
      const providerSession = providerSessionDigest(issuer, providerSid)
      const session = family({ tenant: tenant.id, user, hashPerm, ...times, createdAt: now, providerSession })
      await store.sessions.create(session)
      return { id: session.id, token: await mintToken(tenant, { sub: user, sid: session.id, hashPerm }, now) }
    },
  }
}
