/**
 * Redeems a code or a refresh token at the token endpoint (RFC 6749, sections 4.1.3 and 6). Rejects with ProviderError or
 * ProviderRefused. The returned tokens are not verified yet.
 *
 * openid-client sends the request and parses the response, but the ID token is removed from the response first: only
 * `id-token.ts` verifies ID tokens, and so a malformed response is distinguished from an invalid token.
 */

import * as client from 'openid-client'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { Provider } from './provider.ts'
import { type Grant, tokenRefusal } from './token-refusal.ts'
import { translateError } from './openid-client-errors.ts'
import { ProviderError } from './provider-error.ts'

export interface ProviderTokens {
  readonly idToken: string | null
  readonly accessToken: string
  readonly refreshToken: string | null
}

export interface CodeChecks {
  readonly state: string
  /** PKCE (RFC 7636). */
  readonly verifier: string
}

/** @param query of the callback, without duplicate parameters */
export function redeemCode(
  provider: Provider,
  query: URLSearchParams,
  { state, verifier }: CodeChecks,
): Promise<ProviderTokens> {
  // From the configuration, never from Host: openid-client derives redirect_uri from this URL.
  const url = new URL(provider.tenant.oidc.redirectUri)
  url.search = query.toString()
  const checks = { expectedState: state, pkceCodeVerifier: verifier }
  return redeemGrant(provider, 'code', (configuration) =>
    client.authorizationCodeGrant(configuration, url, checks),
  )
}

export function redeemRefreshToken(provider: Provider, refreshToken: string): Promise<ProviderTokens> {
  return redeemGrant(provider, 'refresh token', (configuration) =>
    client.refreshTokenGrant(configuration, refreshToken),
  )
}

async function redeemGrant(
  provider: Provider,
  grant: Grant,
  redeem: (configuration: client.Configuration) => Promise<client.TokenEndpointResponse>,
): Promise<ProviderTokens> {
  const { configured, clientAuth } = await provider.discovered()
  const { scopes } = provider.tenant.oidc
  let idToken: string | null = null
  const configuration = configured((fetch) => async (url, options) => {
    const response = await fetch(url, options)
    if (response.status !== 200) throw await tokenRefusal(response, grant, { clientAuth, scopes })
    const taken = await takeIdToken(response)
    idToken = taken.idToken
    return taken.response
  })
  try {
    const { access_token: accessToken, refresh_token: refreshToken = null } = await redeem(configuration)
    return { idToken, accessToken, refreshToken }
  } catch (cause) {
    throw translateError(cause, `the ${grant}`)
  }
}

/** @param response a 200 */
async function takeIdToken(response: Response): Promise<{ response: Response; idToken: string | null }> {
  const parsed = parseJson(await response.text())
  if ('fault' in parsed || !isJsonObject(parsed.value))
    throw new ProviderError('the response of the token endpoint is not a JSON object')
  const { id_token: idToken = null, ...rest } = parsed.value
  // RFC 6749, section 7.1. openid-client also accepts DPoP tokens, for which the gateway has no key.
  if (typeof rest.token_type !== 'string' || rest.token_type.toLowerCase() !== 'bearer')
    throw new ProviderError('the response of the token endpoint has a token_type other than Bearer')
  if (idToken !== null && typeof idToken !== 'string') throw new ProviderError('the ID token is not a string')
  return { response: Response.json(rest), idToken }
}
