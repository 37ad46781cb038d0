/** The identity provider of a fleet's tenant: its keys, and the logout tokens that it would send. */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { Test } from 'tap'

const CLIENT = 'fleet'

export interface LogoutProvider {
  readonly issuer: string
  /** The tenant's section `oidc:`, on one line. */
  readonly settings: string
  /** A token about a session at the provider, or about a user. */
  logoutToken(about: { readonly sid: string } | { readonly sub: string }): Promise<string>
}

export async function startLogoutProvider(t: Test): Promise<LogoutProvider> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
  const key = { ...(await exportJWK(publicKey)), kid: 'key', alg: 'ES256', use: 'sig' }
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.url === '/jwks' ? { keys: [key] } : discovery(issuer)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirectUri = 'https://gw.example/auth/oidc/callback'
  return {
    issuer,
    settings: `{ issuer: "${issuer}", client_id: ${CLIENT}, redirect_uri: "${redirectUri}", allow_insecure: true }`,
    logoutToken: (about) =>
      new SignJWT({ ...about, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })
        .setProtectedHeader({ alg: 'ES256', kid: 'key', typ: 'logout+jwt' })
        .setIssuer(issuer)
        .setAudience(CLIENT)
        .setIssuedAt()
        .setExpirationTime('2m')
        .setJti(randomUUID())
        .sign(privateKey),
  }
}

function discovery(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    id_token_signing_alg_values_supported: ['ES256'],
  }
}
