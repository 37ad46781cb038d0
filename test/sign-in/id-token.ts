/** An ID token obtained without the gateway, as a single-page application obtains one. */

import { createHash, randomBytes } from 'node:crypto'
import { CLIENT_SECRET, type TestProvider } from '../oidc/provider.ts'
import { isCallback, type Visitor } from './visitor.ts'

/** @param visitor signs in at the provider, and stops before any request to the gateway */
export async function idTokenOf(visitor: Visitor, provider: TestProvider): Promise<string> {
  const { clientId, redirectUri } = provider.config()
  const verifier = randomBytes(32).toString('base64url')
  const url = new URL('/auth', provider.issuer)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    nonce: 'a nonce of nobody',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString()
  const stopped = await visitor.walk(url.href, isCallback)
  const code = new URL(stopped.headers.location ?? 'nowhere:').searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const answer = await visitor.post(`${provider.issuer}/token`, form, { authorization: basic(clientId) })
  return answer.json.id_token
}

/** RFC 6749, section 2.3.1: each half is encoded first. */
function basic(clientId: string): string {
  const encoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(CLIENT_SECRET)}`).toString('base64')}`
}
