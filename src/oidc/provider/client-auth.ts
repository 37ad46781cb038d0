/**
 * How the gateway authenticates as a client at the token endpoint, and where requests are pushed (RFC 6749,
 * section 2.3.1; RFC 7523, section 2.2).
 */

import * as client from 'openid-client'
import type { ClientAuth, OidcConfig } from '../../config/config.ts'
import { assertionKey } from './assertion-key.ts'
import { ProviderError } from './provider-errors.ts'

/**
 * The configured method, else one that discovery advertises. If nothing is advertised it is Basic (OpenID
 * Connect Discovery 1.0, section 3), or the method of the configured key.
 */
export function chosenAuth(
  { clientAuth, clientSecret, clientKey }: OidcConfig,
  supported: unknown,
): ClientAuth {
  if (clientAuth !== null) return clientAuth
  if (clientKey !== null) {
    if (!Array.isArray(supported) || supported.includes('private_key_jwt')) return 'private_key_jwt'
    throw new ProviderError('the provider does not support private_key_jwt, which client_key is for')
  }
  if (clientSecret === null) return 'none'
  const methods: readonly unknown[] = Array.isArray(supported) ? supported : ['client_secret_basic']
  if (methods.includes('client_secret_basic')) return 'client_secret_basic'
  if (methods.includes('client_secret_post')) return 'client_secret_post'
  throw new ProviderError('the provider supports neither client_secret_basic nor client_secret_post')
}

/**
 * @param metadata the discovery document
 * @throws ProviderError if the provider does not verify what the key can sign
 */
export function authentication(
  method: ClientAuth,
  { clientSecret, clientKey }: Pick<OidcConfig, 'clientSecret' | 'clientKey'>,
  metadata: client.ServerMetadata,
): client.ClientAuth {
  const secret = clientSecret ?? ''
  switch (method) {
    case 'client_secret_basic':
      return (_server, { client_id: id }, _body, headers) => headers.set('authorization', basic(id, secret))
    case 'client_secret_post':
      return client.ClientSecretPost(secret)
    case 'private_key_jwt':
      // Each request has an assertion of its own, with a `jti`, for a minute. Its `aud` is the issuer: of an
      // endpoint, a hostile provider could name the endpoint of another provider (CVE-2025-27370).
      return client.PrivateKeyJwt(
        assertionKey(clientKey ?? '', metadata.token_endpoint_auth_signing_alg_values_supported),
      )
    case 'none':
      return client.None()
  }
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`
}

/**
 * RFC 6749, appendix B, with the unreserved characters of RFC 3986, section 2.3, as they are. openid-client's
 * own ClientSecretBasic encodes those too, and some providers (glewlwyd, LemonLDAP::NG) do not decode.
 */
function formEncoded(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}

const CORRECTIONS: Readonly<Record<ClientAuth, string>> = {
  client_secret_basic: 'check client_id and client_secret, or set client_auth: client_secret_post',
  client_secret_post: 'check client_id and client_secret, or set client_auth: client_secret_basic',
  private_key_jwt:
    'check client_id, the clock of this machine, and that the provider has the public key of client_key, which seatgate check prints',
  none: 'check client_id, or set a client_secret, with client_auth: client_secret_basic or client_secret_post',
}

/** The advice for the log after 401, `invalid_client` and `unauthorized_client`. */
export function clientAdvice(clientAuth: ClientAuth): string {
  return `(the gateway authenticates by ${clientAuth}: ${CORRECTIONS[clientAuth]})`
}

/** The advice for the log after `invalid_scope`. */
export function scopeAdvice({ scopes }: OidcConfig): string {
  if (!scopes.includes('offline_access')) return '(set scopes to those that the provider grants this client)'
  const others = scopes.filter((scope) => scope !== 'offline_access')
  return `(set scopes without offline_access: [${others.join(', ')}])`
}

const PUSH_ADVICE =
  '(the gateway pushes authorization requests only where the discovery document requires them of every client: require them there, or not of this client)'
const OBJECT_ADVICE = '(the gateway sends no signed request objects: do not require them of this client)'

/**
 * The advice for the log after an error that the user cannot correct.
 *
 * @param requiresObject whether the discovery document requires signed request objects
 */
export function requestAdvice(description: string, requiresObject: boolean): string {
  if (/pushed|\bPAR\b/i.test(description)) return PUSH_ADVICE
  return requiresObject || /request object|\bJAR\b/i.test(description) ? OBJECT_ADVICE : ''
}
