/**
 * What the provider gives for a code or a refresh token (RFC 6749, sections 4.1.3 and 6). Rejects with ProviderTrouble or
 * ProviderRefused. Nothing that comes back is believed yet, except that it came over TLS.
 *
 * openid-client makes the request and reads the answer, but the ID token is taken out before it sees it: one verifier
 * decides on that, ours, and an answer that is broken can be told from a token that is not to be believed.
 */

import * as client from 'openid-client'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { Provider } from './provider.ts'
import { type Grant, tokenRefusal } from './token-refusal.ts'
import { translateError } from './openid-client-errors.ts'
import { ProviderError } from './provider-error.ts'

export interface ProviderAnswer {
  readonly idToken: string | null
  readonly accessToken: string
  readonly refreshToken: string | null
}

export interface CodeChecks {
  readonly state: string
  /** PKCE (RFC 7636). */
  readonly verifier: string
}

/** @param query of the callback, whose parameters are known to be there once only */
export function redeemCode(
  provider: Provider,
  query: URLSearchParams,
  { state, verifier }: CodeChecks,
): Promise<ProviderAnswer> {
  // From the configuration, never from Host: the redirect_uri that is sent along is made of it.
  const url = new URL(provider.tenant.oidc.redirectUri)
  url.search = query.toString()
  const checks = { expectedState: state, pkceCodeVerifier: verifier }
  return asked(provider, 'code', (configuration) => client.authorizationCodeGrant(configuration, url, checks))
}

export function redeemRefreshToken(provider: Provider, refreshToken: string): Promise<ProviderAnswer> {
  return asked(provider, 'refresh token', (configuration) =>
    client.refreshTokenGrant(configuration, refreshToken),
  )
}

async function asked(
  provider: Provider,
  grant: Grant,
  redeem: (configuration: client.Configuration) => Promise<client.TokenEndpointResponse>,
): Promise<ProviderAnswer> {
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
    throw new ProviderError("the token endpoint's answer is no JSON object")
  const { id_token: idToken = null, ...rest } = parsed.value
  // RFC 6749, section 7.1. openid-client takes DPoP tokens as well, for which the gateway has no key.
  if (typeof rest.token_type !== 'string' || rest.token_type.toLowerCase() !== 'bearer')
    throw new ProviderError("the token endpoint's answer has another token_type than Bearer")
  if (idToken !== null && typeof idToken !== 'string') throw new ProviderError('the ID token is no text')
  return { response: Response.json(rest), idToken }
}
