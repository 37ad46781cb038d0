/**
 * An issuer whose tokens are accepted without sign-in: its keys, which are read at first use and kept for a
 * short time, so that a key taken back ends within a minute.
 */

import { performance } from 'node:perf_hooks'
import type { IssuerConfig } from '../../config/config.ts'
import { type HttpLimits, ProviderHttp } from '../provider/http.ts'
import { KeySet } from '../provider/jwks.ts'
import { checkedEndpoint, type DiscoveryHttp, readMetadata } from '../provider/provider.ts'
import { StaleWhileRevalidate } from '../provider/stale-while-revalidate.ts'

/**
 * ms. A verified token counts for {@link REVERIFY} after its keys were at most `stale` old: less than a
 * minute together.
 */
export const KEY_TIMES = { fresh: 20_000, stale: 40_000, backoff: 1_000 }
/** ms after which the signature of a token is verified again. */
export const REVERIFY = 15_000
/** ms. Each read of keys reads the discovery document too, beside the first. */
const DISCOVERY_TIMES = { fresh: 60 * 60_000, stale: 24 * 60 * 60_000, backoff: 1_000 }

/** The client id for discovery, which does not send it. */
const NO_CLIENT = 'none'

type IssuerPlace = Pick<IssuerConfig, 'issuer' | 'jwksUri' | 'allowInsecure'>

/**
 * The HTTP client of an issuer: the operator named the hosts of `issuer` and of `jwks_uri`, which may be
 * inner ones.
 */
export function issuerHttp(
  { issuer, jwksUri, allowInsecure }: IssuerPlace,
  limits: HttpLimits,
): ProviderHttp {
  const keys = jwksUri === null ? null : new URL(jwksUri)
  const port = keys?.protocol === 'http:' ? '80' : '443'
  const endpointHosts = keys === null ? [] : [`${keys.hostname}:${keys.port || port}`]
  return new ProviderHttp({ issuer, allowInsecure, endpointHosts, setting: 'jwks_uri' }, limits)
}

/**
 * The address of the keys, from the settings or else from the discovery document. Rejects with ProviderError.
 */
export async function keysUri(place: IssuerPlace, http: DiscoveryHttp): Promise<string> {
  if (place.jwksUri !== null) return place.jwksUri
  return checkedEndpoint(await readMetadata(place, NO_CLIENT, http), 'jwks_uri', http)
}

export type IssuerKeys = ReturnType<typeof issuerKeys>

/**
 * The keys of an issuer. All entries with the same issuer and `jwks_uri` share them, and so the rate of their
 * reads.
 *
 * @param clock monotonic ms
 */
export function issuerKeys(
  place: IssuerPlace,
  limits: HttpLimits = {},
  clock: () => number = () => performance.now(),
) {
  const http = issuerHttp(place, limits)
  const document = new StaleWhileRevalidate(() => keysUri(place, http), DISCOVERY_TIMES, clock)
  const [uri, newUri] = [() => document.get(), () => document.revalidate()]
  const keys = new KeySet({ uri, newUri, fetch: http.fetch, clock, times: KEY_TIMES })
  /** Resolves when no request is in flight. */
  const close = () => http.close()
  return { keys, close }
}
