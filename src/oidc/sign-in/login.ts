/**
 * Begins a sign-in: the authorization request (OpenID Connect Core 1.0, section 3.1.2.1), with state, nonce and PKCE
 * S256, whatever the provider says it supports. Called by the endpoint, and for browsers that a route sends to sign in.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import type { Provider } from '../provider/provider.ts'
import { beginState, STATE_LIFETIME } from './state.ts'
import { ProviderError } from '../provider/provider-error.ts'

export interface SignInBegun {
  readonly authorizationUrl: string
  readonly state: string
  /** Seconds. */
  readonly expiresIn: number
  /** Values for Set-Cookie. */
  readonly cookies: readonly string[]
}

/**
 * A Refusal when the sign-in could not be finished. Rejects with ProviderTrouble.
 *
 * @param returnTo null: the answer is for a program
 * @param cookies the values of all Cookie header lines: of other sign-ins that the browser has under way
 */
export async function beginSignIn(
  context: Context,
  provider: Provider,
  returnTo: string | null,
  cookies: readonly string[],
): Promise<SignInBegun | Refusal> {
  const { configuration, sendsIssuer } = await provider.discovered()
  refuseMixUp(context, provider, sendsIssuer)
  const begun = await beginState(context, provider, returnTo, cookies)
  if (begun instanceof Refusal) return begun
  const { state, nonce, verifier } = begun
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
  return { authorizationUrl: url.href, state, expiresIn: STATE_LIFETIME / 1000, cookies: begun.cookies }
}

/**
 * Two providers that send browsers back to one address can be mixed up by one that is hostile: it has the other's code
 * sent there under its own state, and is asked to redeem it (RFC 9700, section 4.4). Either the answers say whose they
 * are (RFC 9207), or each tenant has an address of its own.
 */
function refuseMixUp({ sharedRedirect }: Context, { tenant }: Provider, sendsIssuer: boolean): void {
  if (sharedRedirect.has(tenant.id) && !sendsIssuer)
    throw new ProviderError(
      'its answers do not say which provider they are from, and another tenant has the same redirect_uri: give each its own',
    )
}
