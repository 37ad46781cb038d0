/**
 * Begins a sign-in: makes its state, and the address at the provider. For the login endpoint
 * (`login-endpoint.ts`), and for browsers that `src/pipeline/stages/refuse-denied.ts` redirects.
 */

import * as client from 'openid-client'
import { Refusal } from '../../model/errors.ts'
import type { PublicResponse } from '../../model/route.ts'
import { type Context, withProviderErrors } from '../context.ts'
import type { Reply } from '../ports.ts'
import { ProviderError } from '../provider/provider-errors.ts'
import type { Provider } from '../provider/provider.ts'
import { pushRequest } from '../provider/pushed-request.ts'
import { type Fields, invalid } from './body.ts'
import { headerLines } from './browser.ts'
import { isAtNonCanonicalHost, redirectToCanonicalHost, setCookies } from './canonical-host.ts'
import { asPage } from './refusal-page.ts'
import { pageOf } from './return-to.ts'
import { newState } from './state.ts'

/**
 * The same for an unknown tenant and a tenant without a provider, so that it does not reveal which tenants
 * exist.
 */
const noSignIn = invalid('/tenant', 'is not a tenant with sign-in')

/**
 * Redirects a browser that navigates to a page without being signed in.
 *
 * @param target the requested path and query
 * @param rawHeaders name, value, …
 */
export async function signInRedirect(
  context: Context,
  tenant: string,
  target: string,
  rawHeaders: readonly string[],
): Promise<Reply> {
  const provider = context.providers.get(tenant)
  if (provider === undefined) return noSignIn
  const returnTo = pageOf(target, context.prefix) ?? '/'
  if (isAtNonCanonicalHost(rawHeaders, provider.tenant.oidc.redirectUri))
    return redirectToCanonicalHost(provider, returnTo)
  const started = await beginSignIn(context, provider, { returnTo, prompt: null }, rawHeaders)
  return started instanceof Refusal ? asPage(started, returnTo) : seeOther(started)
}

export interface RequestedSignIn {
  /** The page after the sign-in; null: a program signs in. */
  readonly returnTo: string | null
  /** The prompt (OpenID Connect Core 1.0, section 3.1.2.1); null: the provider decides. */
  readonly prompt: string | null
}

interface StartedSignIn {
  readonly authorizationUrl: string
  readonly state: string
  /** Values for Set-Cookie. */
  readonly cookies: readonly string[]
}

/** @returns a Refusal also if completed sign-ins can't be recorded */
export function beginSignIn(
  context: Context,
  provider: Provider,
  { returnTo, prompt }: RequestedSignIn,
  rawHeaders: readonly string[],
): Promise<StartedSignIn | Refusal> {
  return withProviderErrors(context, provider, async () => {
    const { configuration, sendsIssuer, requiresPush } = await provider.discovered()
    refuseMixUp(context, provider, sendsIssuer)
    const pending = await newState(context, provider, returnTo, headerLines(rawHeaders, 'cookie'))
    if (pending instanceof Refusal) return pending
    const { state, nonce, verifier, cookies } = pending
    const { redirectUri, scopes } = provider.tenant.oidc
    // OpenID Connect Core 1.0, section 3.1.2.1; with PKCE S256 whether or not the provider advertises it.
    const parameters = {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: scopes.join(' '),
      state,
      nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(prompt === null ? {} : { prompt }),
    }
    const url = requiresPush
      ? await pushRequest(provider, parameters)
      : client.buildAuthorizationUrl(configuration, parameters)
    return { authorizationUrl: url.href, state, cookies }
  })
}

/**
 * Prevents mix-up attacks (RFC 9700, section 4.4): with a shared redirect_uri, a hostile provider can obtain
 * another provider's code under its own state. Either the responses carry `iss` (RFC 9207), or each tenant
 * has its own redirect_uri.
 */
function refuseMixUp({ sharedRedirect }: Context, { tenant }: Provider, sendsIssuer: boolean): void {
  if (sharedRedirect.has(tenant.id) && !sendsIssuer)
    throw new ProviderError(
      'the provider does not send iss (RFC 9207), and another tenant has the same redirect_uri: configure a separate redirect_uri for each tenant',
    )
}

export function seeOther({ authorizationUrl, cookies }: StartedSignIn): PublicResponse {
  return { status: 303, headers: [...setCookies(cookies), 'Location', authorizationUrl] }
}

export function providerOf({ providers }: Context, fields: Fields): Provider | Refusal {
  return providers.get(fields.get('tenant') ?? '') ?? noSignIn
}
