/**
 * Redeems a code or a refresh token at the token endpoint (RFC 6749, sections 4.1.3 and 6). Rejects with
 * ProviderError or ProviderRefused. The returned tokens are not verified yet.
 *
 * openid-client sends the request and parses the response, but the ID token is removed from the response
 * first: only `id-token.ts` verifies ID tokens, and so a malformed response is distinguished from an invalid
 * token.
 */

import * as client from 'openid-client'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { Provider } from './provider.ts'
import { clientAdvice, scopeAdvice } from './client-auth.ts'
import { ProviderError, ProviderRefused, translateError } from './provider-errors.ts'
import { sanitize, sanitizeErrorCode } from './log-text.ts'
import type { ClientAuth, OidcConfig } from '../../config/config.ts'

export interface ProviderTokens {
  readonly idToken: string | null
  readonly accessToken: string
  readonly refreshToken: string | null
}

type Sent = 'code' | 'refresh token' | 'pushed request'

/**
 * @param query of the callback, without duplicate parameters
 * @param checks the expected state, and the verifier of PKCE (RFC 7636)
 */
export function redeemCode(
  provider: Provider,
  query: URLSearchParams,
  checks: { readonly state: string; readonly verifier: string },
): Promise<ProviderTokens> {
  // From the configuration, never from Host: openid-client derives redirect_uri from this URL.
  const url = new URL(provider.tenant.oidc.redirectUri)
  url.search = query.toString()
  const expected = { expectedState: checks.state, pkceCodeVerifier: checks.verifier }
  return redeemGrant(provider, 'code', (configuration) =>
    client.authorizationCodeGrant(configuration, url, expected),
  )
}

export function redeemRefreshToken(provider: Provider, refreshToken: string): Promise<ProviderTokens> {
  return redeemGrant(provider, 'refresh token', (configuration) =>
    client.refreshTokenGrant(configuration, refreshToken),
  )
}

async function redeemGrant(
  provider: Provider,
  grant: Exclude<Sent, 'pushed request'>,
  redeem: (configuration: client.Configuration) => Promise<client.TokenEndpointResponse>,
): Promise<ProviderTokens> {
  const { configured, clientAuth, hasDpop } = await provider.discovered()
  let idToken: string | null = null
  const configuration = configured((fetch) => async (url, options) => {
    const response = await fetch(url, options)
    if (response.status !== 200)
      throw await endpointError(response, grant, provider.tenant.oidc, { clientAuth, hasDpop })
    const { id_token: taken, ...rest } = await readTokens(response)
    idToken = taken
    // `expires_in`, `scope` and others only inform, whatever they are (RFC 6749, section 5.1).
    return Response.json(rest)
  })
  try {
    const { access_token: accessToken, refresh_token: refreshToken = null } = await redeem(configuration)
    return { idToken, accessToken, refreshToken }
  } catch (cause) {
    throw translateError(cause, `the ${grant}`)
  }
}

/** @param response a 200 */
async function readTokens(response: Response) {
  const body = parseJson(await response.text())
  if ('fault' in body || !isJsonObject(body.value))
    throw new ProviderError('the response of the token endpoint is not a JSON object')
  const { token_type, access_token } = body.value
  // RFC 6749, section 7.1. openid-client also accepts DPoP tokens, for which the gateway has no key.
  if (typeof token_type !== 'string' || token_type.toLowerCase() !== 'bearer')
    throw new ProviderError(
      `the response of the token endpoint has a token_type other than Bearer${/^dpop$/i.test(String(token_type)) ? `, DPoP ${BOUND}` : ''}`,
    )
  if (typeof access_token !== 'string' || access_token === '')
    throw new ProviderError(
      'the response of the token endpoint has no access_token, or one that is not a text',
    )
  const refresh_token = optionalToken(body.value, 'refresh_token')
  const id_token = optionalToken(body.value, 'id_token')
  return { token_type, access_token, ...(refresh_token !== null && { refresh_token }), id_token }
}

/** The token; null: there is none. Some providers send `null` or `""` then. */
function optionalToken(body: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = body[name] ?? null
  if (value === null || value === '') return null
  if (typeof value === 'string') return value
  throw new ProviderError(`the response of the token endpoint has a ${name} that is not a text`)
}

/** The advice for the log about tokens that are bound to a key. */
const BOUND = '(the gateway has no key that tokens could be bound to: turn off DPoP for this client)'

/** These concern the client, thus the gateway's configuration. */
const ABOUT_CLIENT = ['invalid_client', 'unauthorized_client']
/** Outages. Some providers send these codes, which RFC 6749 defines for redirects only, with status 400. */
const OUTAGES = ['server_error', 'temporarily_unavailable']
/**
 * `invalid_grant`, and what some providers send in place of it: `invalid_code` (glewlwyd),
 * `bad_verification_code` (GitHub).
 */
const REFUSED_CODE = /^invalid_grant$|(?:^|_)code(?:_|$)/
/** Request Timeout and Too Many Requests: a retry may succeed. */
const RETRYABLE = [408, 429]

/**
 * Interprets an error response (RFC 6749, section 5.2; RFC 9126, section 2.3): a fault of the client, of the
 * grant, or of the provider.
 *
 * @param response a response whose status is not that of a success
 */
export async function endpointError(
  response: Response,
  sent: Sent,
  oidc: OidcConfig,
  { clientAuth, hasDpop }: { readonly clientAuth: ClientAuth; readonly hasDpop: boolean },
): Promise<ProviderRefused | ProviderError> {
  const { status } = response
  const { error, description } = await errorOf(response)
  const challenged = status === 401 && response.headers.has('www-authenticate')
  const aboutClient = error === null ? challenged : ABOUT_CLIENT.includes(error)
  const answer = error === null ? String(status) : sanitizeErrorCode(error)
  const parts = [`the ${sent}: the provider responded with ${answer}`, description]
  if (aboutClient || (status === 401 && error !== 'invalid_grant')) parts.push(clientAdvice(clientAuth))
  if (error === 'invalid_scope') parts.push(scopeAdvice(oidc))
  // A provider that requires DPoP of the client may say no more than invalid_grant.
  if (isAboutDpop(error, description) || (hasDpop && error === 'invalid_grant' && sent === 'code'))
    parts.push(BOUND)
  const message = parts.filter((each) => each !== '').join(' ')
  const isFinal = status >= 400 && status < 500 && !RETRYABLE.includes(status)
  const isRefused = isFinal && !aboutClient && !OUTAGES.includes(error ?? '')
  const isRefusedGrant =
    isRefused && (sent === 'refresh token' || (sent === 'code' && error !== null && REFUSED_CODE.test(error)))
  return isRefusedGrant ? new ProviderRefused(message) : new ProviderError(message)
}

/** RFC 9449, sections 5 and 8. */
function isAboutDpop(error: string | null, description: string): boolean {
  return /dpop/i.test(`${error} ${description}`)
}

async function errorOf(response: Response): Promise<{ error: string | null; description: string }> {
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value)) return { error: null, description: '' }
  const { error, error_description: description } = parsed.value
  return {
    error: typeof error === 'string' && error !== '' ? error : null,
    description: typeof description === 'string' ? sanitize(description) : '',
  }
}
