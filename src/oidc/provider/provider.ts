/**
 * A tenant's identity provider (OpenID Connect Discovery 1.0). Discovery runs at first use, never at start: a
 * provider that is down affects only its tenant's sign-in.
 */

import { performance } from 'node:perf_hooks'
import * as client from 'openid-client'
import { acceptedAlgorithms } from './algorithms.ts'
import { authentication, chosenAuth } from './client-auth.ts'
import { type FetchOptions, type HttpLimits, isAllowedScheme, ProviderHttp } from './http.ts'
import { KeySet } from './jwks.ts'
import { requiresObject } from './requirements.ts'
import { StaleWhileRevalidate } from './stale-while-revalidate.ts'
import type { OidcConfig } from '../../config/config.ts'
import type { OidcTenant } from '../ports.ts'
import type { SignerKeys } from '../tokens/compact-jws.ts'
import { DecryptionKeys } from '../tokens/encrypted-token.ts'
import { ProviderError, translateError } from './provider-errors.ts'

/** Allowed clock difference in seconds, for all checks of provider tokens. */
export const LEEWAY = 60

/** Endpoints change rarely. When the provider is down for longer than `stale`, sign-in fails anyway. */
const TIMES = { fresh: 60 * 60_000, stale: 24 * 60 * 60_000, backoff: 1_000 }

const REDIRECTS = new Set([301, 302, 303, 307, 308])

export type DiscoveryHttp = Pick<ProviderHttp, 'fetch' | 'addressFault' | 'requestFault'>

type Discovered = Awaited<ReturnType<typeof discover>>

export class Provider {
  readonly tenant: OidcTenant
  readonly keys: SignerKeys
  readonly decryptionKeys: DecryptionKeys
  readonly #http: ProviderHttp
  readonly #discovered: StaleWhileRevalidate<Discovered>

  /** @param clock monotonic ms */
  constructor(tenant: OidcTenant, limits: HttpLimits = {}, clock: () => number = () => performance.now()) {
    this.tenant = tenant
    this.decryptionKeys = new DecryptionKeys(tenant.oidc.decryptionKeys)
    this.#http = new ProviderHttp(tenant.oidc, limits)
    this.#discovered = new StaleWhileRevalidate(() => discover(tenant.oidc, this.#http), TIMES, clock)
    const { idTokenSigningAlg, clientSecret } = tenant.oidc
    if (idTokenSigningAlg !== null && clientSecret !== null) {
      this.keys = hmacKeys(clientSecret)
      return
    }
    const uri = async () => (await this.discovered()).jwksUri ?? ''
    const newUri = async () => (await this.#discovered.revalidate()).jwksUri ?? ''
    this.keys = new KeySet({ uri, newUri, fetch: this.#http.fetch, clock })
  }

  /** The algorithms of signatures. Rejects with ProviderError. */
  async algorithms(): Promise<readonly string[]> {
    return (await this.discovered()).algorithms
  }

  /** Rejects with ProviderError. */
  discovered(): Promise<Discovered> {
    return this.#discovered.get()
  }

  close(): Promise<void> {
    return this.#http.close()
  }
}

/** The secret as the only key of ID tokens (OpenID Connect Core 1.0, section 10.1). */
function hmacKeys(secret: string): SignerKeys {
  const key = Buffer.from(secret)
  return { with: (_source, use) => use(key) }
}

async function discover(oidc: OidcConfig, http: DiscoveryHttp) {
  return readProvider(await readMetadata(oidc, oidc.clientId, http), oidc, http)
}

/**
 * @param metadata the discovery document
 * @throws ProviderError
 */
export function readProvider(metadata: client.ServerMetadata, oidc: OidcConfig, http: DiscoveryHttp) {
  checkEndpoints(metadata, oidc, http)
  const clientAuth = chosenAuth(oidc, metadata.token_endpoint_auth_methods_supported)
  const authenticate = authentication(clientAuth, oidc, metadata)
  /** A configuration whose fetch is wrapped. */
  const configured = (wrap: (fetch: client.CustomFetch) => client.CustomFetch) => {
    const configuration = new client.Configuration(metadata, oidc.clientId, {}, authenticate)
    configuration[client.customFetch] = wrap(http.fetch)
    if (oidc.allowInsecure) client.allowInsecureRequests(configuration)
    return configuration
  }
  return {
    configuration: configured((same) => same),
    configured,
    clientAuth,
    /** The algorithms of token signatures that are both advertised and accepted, or the configured one. */
    algorithms:
      oidc.idTokenSigningAlg === null
        ? acceptedAlgorithms(metadata.id_token_signing_alg_values_supported)
        : [oidc.idTokenSigningAlg],
    /** RFC 9207, section 3: every authorization response carries `iss`. */
    sendsIssuer: metadata.authorization_response_iss_parameter_supported === true,
    /** Authorization requests are sent to the provider first; see `pushed-request.ts`. */
    requiresPush: requiresPush(metadata),
    requiresObject: requiresObject(metadata),
    /** Null: the client secret verifies ID tokens. */
    jwksUri: oidc.idTokenSigningAlg === null ? (metadata.jwks_uri ?? '') : null,
    /** RFC 9449, section 5.1: clients may have to bind their tokens to a key. */
    hasDpop: metadata.dpop_signing_alg_values_supported !== undefined,
    hasUserinfo: metadata.userinfo_endpoint !== undefined,
  }
}

/** RFC 9126, section 5. */
function requiresPush(metadata: client.ServerMetadata): boolean {
  return metadata.require_pushed_authorization_requests === true
}

/**
 * Reads the discovery document (OpenID Connect Discovery 1.0, section 4). Its endpoints are not checked.
 * Rejects with ProviderError.
 *
 * @param clientId is not sent
 */
export async function readMetadata(
  { issuer, allowInsecure }: Pick<OidcConfig, 'issuer' | 'allowInsecure'>,
  clientId: string,
  http: DiscoveryHttp,
): Promise<client.ServerMetadata> {
  if (!isAllowedScheme(issuer, allowInsecure)) throw new ProviderError('the issuer is not https')
  const documentFetch: client.CustomFetch = (url, options) => fetchDocument(http, url, options)
  const execute = allowInsecure ? [client.allowInsecureRequests] : []
  const options = { [client.customFetch]: documentFetch, execute }
  const configuration = await client
    .discovery(new URL(issuer), clientId, {}, client.None(), options)
    .catch((cause: unknown) => {
      throw translateError(cause, 'discovery')
    })
  const metadata = withoutNull(configuration.serverMetadata())
  // openid-client compares issuers as URLs, not as text.
  if (metadata.issuer !== issuer)
    throw new ProviderError('the issuer in the discovery document differs from the configured issuer')
  return metadata
}

/** Follows one redirect that only adds or removes a trailing slash, as frameworks such as Django send it. */
async function fetchDocument(http: DiscoveryHttp, url: string, options: FetchOptions): Promise<Response> {
  const response = await http.fetch(url, options)
  const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
  const target = location === null ? null : URL.parse(location, url)
  return target !== null && differsByTrailingSlash(url, target.href)
    ? http.fetch(target.href, options)
    : response
}

function differsByTrailingSlash(a: string, b: string): boolean {
  return a === `${b}/` || b === `${a}/`
}

/**
 * Some providers write null for what they do not have; OpenID Connect Discovery, section 4.2, leaves such
 * members out.
 */
function withoutNull(metadata: client.ServerMetadata): client.ServerMetadata {
  const members = Object.entries(metadata).filter(([, value]) => value !== null)
  return { ...Object.fromEntries(members), issuer: metadata.issuer }
}

const PUSH_ENDPOINT = 'pushed_authorization_request_endpoint'

/** Checks the endpoints that sign-in uses; some of them are optional. */
function checkEndpoints(
  metadata: client.ServerMetadata,
  { idTokenSigningAlg }: OidcConfig,
  http: DiscoveryHttp,
): void {
  const keys = idTokenSigningAlg === null ? (['jwks_uri'] as const) : []
  const push = requiresPush(metadata) ? ([PUSH_ENDPOINT] as const) : []
  const required = ['authorization_endpoint', 'token_endpoint', ...keys, ...push] as const
  const optional = ['userinfo_endpoint', 'end_session_endpoint', PUSH_ENDPOINT] as const
  for (const name of required) checkedEndpoint(metadata, name, http)
  for (const name of optional) if (metadata[name] !== undefined) checkedEndpoint(metadata, name, http)
}

/** The endpoints that the browser requests, not the gateway. */
const OF_BROWSERS = new Set(['authorization_endpoint', 'end_session_endpoint'])

/**
 * @returns its URL.
 * @throws ProviderError
 */
export function checkedEndpoint(metadata: client.ServerMetadata, name: string, http: DiscoveryHttp): string {
  const url: unknown = metadata[name]
  if (typeof url !== 'string') throw new ProviderError(`the provider's ${name} is missing or not a string`)
  const what = `the provider's ${name}`
  const fault = OF_BROWSERS.has(name) ? http.addressFault(url, what) : http.requestFault(url, what)
  if (fault !== null) throw fault
  return url
}
