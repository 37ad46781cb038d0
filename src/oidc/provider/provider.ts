/**
 * A tenant's identity provider as discovered (OpenID Connect Discovery 1.0), and how the gateway authenticates to it.
 * Read when first needed, never at start: a provider that is down stops nothing but its own tenant's sign-in.
 */

import { performance } from 'node:perf_hooks'
import * as client from 'openid-client'
import { acceptedAlgorithms } from './algorithms.ts'
import { authentication, chosenAuth } from './client-auth.ts'
import { type FetchOptions, type HttpLimits, mayBeAsked, ProviderHttp } from './http.ts'
import { KeySet } from './jwks.ts'
import { StaleWhileRevalidate } from './stale-while-revalidate.ts'
import type { ClientAuth, OidcConfig } from '../../config/config.ts'
import type { OidcTenant } from '../ports.ts'
import { translateError } from './openid-client-errors.ts'
import { ProviderError } from './provider-error.ts'

/** Seconds that clocks may differ; the same in all that is checked. */
export const LEEWAY = 60

/** Endpoints move seldom. With the provider down for longer than the second, there is no sign-in anyhow. */
const TIMES = { fresh: 60 * 60_000, stale: 24 * 60 * 60_000, backoff: 1_000 }

const REDIRECTS = new Set([301, 302, 303, 307, 308])

export interface Discovered {
  readonly configuration: client.Configuration
  /** The same, with another fetch made of ours. */
  configured(around: (fetch: client.CustomFetch) => client.CustomFetch): client.Configuration
  readonly clientAuth: ClientAuth
  /** For tokens: advertised, and on our list. */
  readonly algorithms: readonly string[]
  /** RFC 9207, section 3: every authorization response carries `iss`. */
  readonly sendsIssuer: boolean
  readonly jwksUri: string
  readonly hasUserinfo: boolean
  readonly hasEndSession: boolean
}

export class Provider {
  readonly tenant: OidcTenant
  readonly keys: KeySet
  readonly #http: ProviderHttp
  readonly #discovered: StaleWhileRevalidate<Discovered>

  /** @param clock monotonic ms */
  constructor(tenant: OidcTenant, limits: HttpLimits = {}, clock: () => number = () => performance.now()) {
    this.tenant = tenant
    this.#http = new ProviderHttp(tenant.oidc, limits)
    this.#discovered = new StaleWhileRevalidate(() => discover(tenant.oidc, this.#http), TIMES, clock)
    const uri = async () => (await this.discovered()).jwksUri
    const newUri = async () => (await this.#discovered.again()).jwksUri
    this.keys = new KeySet({ uri, newUri, fetch: this.#http.fetch, clock })
  }

  /** Rejects with ProviderTrouble. */
  discovered(): Promise<Discovered> {
    return this.#discovered.get()
  }

  close(): Promise<void> {
    return this.#http.close()
  }
}

async function discover(oidc: OidcConfig, http: ProviderHttp): Promise<Discovered> {
  const issuer = new URL(oidc.issuer)
  if (!mayBeAsked(oidc.issuer, oidc.allowInsecure)) throw new ProviderError('the issuer is not https')
  const fetch: client.CustomFetch = (url, options) => http.fetch(url, options)
  const documentFetch: client.CustomFetch = (url, options) => fetchDocument(http, url, options)
  const execute = oidc.allowInsecure ? [client.allowInsecureRequests] : []
  const found = await client
    .discovery(issuer, oidc.clientId, {}, client.None(), { [client.customFetch]: documentFetch, execute })
    .catch((cause: unknown) => {
      throw translateError(cause, 'discovery')
    })
  const metadata = found.serverMetadata()
  // openid-client compares them as URLs, for which several texts are the same.
  if (metadata.issuer !== oidc.issuer)
    throw new ProviderError('the provider names another issuer than the configuration')
  checkEndpoints(metadata, http)
  const clientAuth = chosenAuth(oidc, metadata.token_endpoint_auth_methods_supported)
  const authenticate = authentication(clientAuth, oidc.clientSecret ?? '')
  const configured: Discovered['configured'] = (around) => {
    const configuration = new client.Configuration(metadata, oidc.clientId, {}, authenticate)
    configuration[client.customFetch] = around(fetch)
    if (oidc.allowInsecure) client.allowInsecureRequests(configuration)
    return configuration
  }
  return {
    configuration: configured((same) => same),
    configured,
    clientAuth,
    algorithms: acceptedAlgorithms(metadata.id_token_signing_alg_values_supported),
    sendsIssuer: metadata.authorization_response_iss_parameter_supported === true,
    jwksUri: metadata.jwks_uri ?? '',
    hasUserinfo: metadata.userinfo_endpoint !== undefined,
    hasEndSession: metadata.end_session_endpoint !== undefined,
  }
}

/** Frameworks that append a slash to each path (Django) redirect: that one redirect is followed, once, and no other. */
async function fetchDocument(http: ProviderHttp, url: string, options: FetchOptions): Promise<Response> {
  const response = await http.fetch(url, options)
  const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
  const target = location === null ? null : URL.parse(location, url)
  return target !== null && differsByLastSlash(url, target.href) ? http.fetch(target.href, options) : response
}

function differsByLastSlash(one: string, other: string): boolean {
  return one === `${other}/` || other === `${one}/`
}

/** What sign-in can't do without, and what it uses where it is there. */
function checkEndpoints(metadata: client.ServerMetadata, http: ProviderHttp): void {
  const required = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const
  const optional = ['userinfo_endpoint', 'end_session_endpoint'] as const
  for (const name of [...required, ...optional]) {
    const url: unknown = metadata[name]
    if (url === undefined && (optional as readonly string[]).includes(name)) continue
    if (typeof url !== 'string') throw new ProviderError(`the provider's ${name} is missing, or no text`)
    const trouble = http.troubleOf(url, `the provider's ${name}`)
    if (trouble !== null) throw trouble
  }
}
