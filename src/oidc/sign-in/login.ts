/**
 * Builds the authorization request (OpenID Connect Core 1.0, section 3.1.2.1). It always has state, nonce and PKCE S256,
 * whether or not the provider advertises PKCE.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import type { Provider } from '../provider/provider.ts'
import { newState, STATE_LIFETIME } from './state.ts'
import { ProviderError } from '../provider/errors.ts'

export interface StartedSignIn {
  readonly authorizationUrl: string
  readonly state: string
  /** Seconds. */
  readonly expiresIn: number
  /** Values for Set-Cookie. */
  readonly cookies: readonly string[]
}

/**
 * @param returnTo null when the response is for a program
 * @param cookies the values of all Cookie header lines, with the browser's other pending sign-ins
 * @returns a Refusal when completed sign-ins can't be recorded. Rejects with ProviderError.
 */
export async function startSignIn(
  context: Context,
  provider: Provider,
  returnTo: string | null,
  cookies: readonly string[],
): Promise<StartedSignIn | Refusal> {
  const { configuration, sendsIssuer } = await provider.discovered()
  refuseMixUp(context, provider, sendsIssuer)
  const started = await newState(context, provider, returnTo, cookies)
  if (started instanceof Refusal) return started
  const { state, nonce, verifier } = started
  const { redirectUri, scopes } = provider.tenant.oidc
  const url = client.buildAuthorizationUrl(configuration, {
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  return { authorizationUrl: url.href, state, expiresIn: STATE_LIFETIME / 1000, cookies: started.cookies }
}

/**
 * Prevents mix-up attacks (RFC 9700, section 4.4): with a shared redirect_uri, a hostile provider can obtain another
 * provider's code under its own state. Either the responses carry `iss` (RFC 9207), or each tenant has its own
 * redirect_uri.
 */
function refuseMixUp({ sharedRedirect }: Context, { tenant }: Provider, sendsIssuer: boolean): void {
  if (sharedRedirect.has(tenant.id) && !sendsIssuer)
    throw new ProviderError(
      'the provider does not send iss (RFC 9207), and another tenant has the same redirect_uri: configure a separate redirect_uri for each tenant',
    )
}
