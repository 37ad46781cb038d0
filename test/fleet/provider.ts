/** The identity provider of a fleet's tenant, and the logout tokens that it would send. */

import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { CLIENT, HostileProvider } from '../oidc/hostile-provider.ts'

export interface LogoutProvider {
  readonly issuer: string
  /** The tenant's section `oidc:`, on one line. */
  readonly settings: string
  /** A token about a session at the provider, or about a user. */
  logoutToken(about: { readonly sid: string } | { readonly sub: string }): Promise<string>
}

export async function startLogoutProvider(t: Test): Promise<LogoutProvider> {
  const provider = await HostileProvider.start(t)
  const { issuer } = provider
  const redirectUri = 'https://gw.example/auth/oidc/callback'
  return {
    issuer,
    settings: `{ issuer: "${issuer}", client_id: ${CLIENT}, redirect_uri: "${redirectUri}", allow_insecure: true }`,
    logoutToken(about) {
      const iat = Math.floor(Date.now() / 1000)
      const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
      const claims = { iss: issuer, aud: CLIENT, iat, exp: iat + 120, jti: randomUUID(), events, ...about }
      return provider.sign(claims, { typ: 'logout+jwt' })
    },
  }
}
