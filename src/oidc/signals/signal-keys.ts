/**
 * The keys that sign a provider's signals: asymmetric ones alone, also where the client secret signs ID
 * tokens. A client that has the secret could otherwise revoke what it likes.
 *
 * They have an HTTP client and a rate of reads of their own: tokens that anyone can send must not delay the
 * keys of sign-ins.
 */

import { performance } from 'node:perf_hooks'
import type { EventsConfig } from '../../config/events-settings.ts'
import type { OidcConfig } from '../../config/config.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { keysUri } from '../issuers/token-issuer.ts'
import { ASYMMETRIC } from '../provider/algorithms.ts'
import { type HttpLimits, ProviderHttp } from '../provider/http.ts'
import { KeySet } from '../provider/jwks.ts'
import { checkedEndpoint, type DiscoveryHttp } from '../provider/provider.ts'
import { ProviderError } from '../provider/provider-errors.ts'
import { StaleWhileRevalidate } from '../provider/stale-while-revalidate.ts'
import type { Signer } from '../tokens/compact-jws.ts'

/** Delivery by push, in the metadata of a transmitter (RFC 8935). */
const PUSH = 'urn:ietf:rfc:8935'

/** ms. Each read of keys reads the discovery document too, beside the first. */
const DISCOVERY_TIMES = { fresh: 60 * 60_000, stale: 24 * 60 * 60_000, backoff: 1_000 }

export interface SignalKeys extends Signer {
  /** Resolves when no request is in flight. */
  close(): Promise<void>
}

/** The keys of the provider itself. */
export function providerKeys(oidc: OidcConfig, limits: HttpLimits): SignalKeys {
  return keysOf(new ProviderHttp(oidc, limits), (http) => providerKeysUri(oidc, http))
}

/** The keys of the transmitter of events. */
export function transmitterKeys(oidc: OidcConfig, events: EventsConfig, limits: HttpLimits): SignalKeys {
  return keysOf(transmitterHttp(oidc, events, limits), (http) => transmitterKeysUri(oidc, events, http))
}

/** The operator names the hosts of `issuer` and of `jwks_uri`, which may be inner ones. */
export function transmitterHttp(
  { issuer, endpointHosts, allowInsecure }: OidcConfig,
  events: EventsConfig,
  limits: HttpLimits,
): ProviderHttp {
  const hosts = events.jwksUri === null ? endpointHosts : [...endpointHosts, hostOf(events.jwksUri)]
  return new ProviderHttp({ issuer: events.issuer ?? issuer, endpointHosts: hosts, allowInsecure }, limits)
}

function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  return `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`
}

function keysOf(http: ProviderHttp, find: (http: DiscoveryHttp) => Promise<string>): SignalKeys {
  const clock = () => performance.now()
  const document = new StaleWhileRevalidate(() => find(http), DISCOVERY_TIMES, clock)
  const [uri, newUri] = [() => document.get(), () => document.revalidate()]
  return {
    algorithms: async () => ASYMMETRIC,
    keys: new KeySet({ uri, newUri, fetch: http.fetch, clock }),
    close: () => http.close(),
  }
}

/** Rejects with ProviderError. */
export function providerKeysUri(oidc: OidcConfig, http: DiscoveryHttp): Promise<string> {
  return keysUri({ ...oidc, jwksUri: null }, http)
}

/** Rejects with ProviderError. */
export async function transmitterKeysUri(
  oidc: OidcConfig,
  { issuer, jwksUri }: EventsConfig,
  http: DiscoveryHttp,
): Promise<string> {
  if (jwksUri !== null) return jwksUri
  if (issuer === null || issuer === oidc.issuer) return providerKeysUri(oidc, http)
  const metadata = await readTransmitter(issuer, http)
  const { delivery_methods_supported: methods } = metadata
  if (Array.isArray(methods) && !methods.includes(PUSH))
    throw new ProviderError(
      `the transmitter does not push events: its delivery_methods_supported lacks ${PUSH}`,
    )
  return checkedEndpoint({ ...metadata, issuer }, 'jwks_uri', http)
}

/** Reads the metadata of a transmitter (SSF 1.0, section 6). Rejects with ProviderError. */
async function readTransmitter(
  issuer: string,
  http: DiscoveryHttp,
): Promise<Readonly<Record<string, unknown>>> {
  const { origin, pathname } = new URL(issuer)
  const url = `${origin}/.well-known/ssf-configuration${pathname === '/' ? '' : pathname}`
  const response = await http.fetch(url, { method: 'GET', headers: { accept: 'application/json' } })
  if (response.status !== 200)
    throw new ProviderError(`the transmitter answered the request for ${url} with ${response.status}`)
  const parsed = parseJson(await response.text())
  if (!('value' in parsed) || !isJsonObject(parsed.value))
    throw new ProviderError(
      `the metadata of the transmitter is ${'fault' in parsed ? parsed.fault : 'no object'}`,
    )
  if (parsed.value.issuer !== issuer)
    throw new ProviderError(
      'the issuer in the metadata of the transmitter differs from the configured issuer',
    )
  return parsed.value
}
