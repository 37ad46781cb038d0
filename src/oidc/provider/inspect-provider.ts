/** Checks what a sign-in needs of an identity provider: its discovery document, its keys and its clock. */

import { importJWK, type JWK } from 'jose'
import type { IssuerConfig, OidcConfig } from '../../config/config.ts'
import { issuerHttp, keysUri } from '../issuers/token-issuer.ts'
import type { EventsConfig } from '../../config/events-settings.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { providerKeysUri, transmitterHttp, transmitterKeysUri } from '../signals/signal-keys.ts'
import { ASYMMETRIC } from './algorithms.ts'
import { ProviderError } from './provider-errors.ts'
import { type HttpLimits, ProviderHttp } from './http.ts'
import { readKeys } from './jwks.ts'
import { sanitizeName } from './log-text.ts'
import { type DiscoveryHttp, readMetadata, readProvider } from './provider.ts'
import { unmetRequirements } from './requirements.ts'

export interface ProviderInspection {
  /**
   * Keys that verify tokens of an algorithm that the provider advertises and the gateway accepts; null: the
   * client secret verifies them.
   */
  readonly keys: number | null
  /** Milliseconds that the provider's clock is ahead; null: it sends no time. */
  readonly clockAhead: number | null
}

/** Rejects with ProviderError. */
export function inspectProvider(oidc: OidcConfig, limits: HttpLimits = {}): Promise<ProviderInspection> {
  const advertised = async (document: DiscoveryHttp) => {
    const metadata = await readMetadata(oidc, oidc.clientId, document)
    const unmet = unmetRequirements(metadata, oidc)
    try {
      const provider = readProvider(metadata, oidc, document)
      if (unmet.length === 0) return provider
    } catch (cause) {
      if (!(cause instanceof ProviderError) || unmet.length === 0) throw cause
      unmet.push(cause.message)
    }
    throw new ProviderError(unmet.join('; '))
  }
  return inspect(new ProviderHttp(oidc, limits), oidc.issuer, advertised)
}

/** Rejects with ProviderError. */
export function inspectIssuer(config: IssuerConfig, limits: HttpLimits = {}): Promise<ProviderInspection> {
  const { algorithms } = config
  return inspect(issuerHttp(config, limits), config.issuer, async (document) => ({
    jwksUri: await keysUri(config, document),
    algorithms,
  }))
}

/** The keys that sign events. Rejects with ProviderError. */
export function inspectTransmitter(
  { oidc, events }: { readonly oidc: OidcConfig; readonly events: EventsConfig },
  limits: HttpLimits = {},
): Promise<ProviderInspection> {
  return inspect(transmitterHttp(oidc, events, limits), events.issuer ?? oidc.issuer, async (document) => ({
    jwksUri: await transmitterKeysUri(oidc, events, document),
    algorithms: ASYMMETRIC,
  }))
}

/** The keys that sign revocations, where the client secret signs ID tokens. Rejects with ProviderError. */
export function inspectRevocationKeys(
  oidc: OidcConfig,
  limits: HttpLimits = {},
): Promise<ProviderInspection> {
  return inspect(new ProviderHttp(oidc, limits), oidc.issuer, async (document) => ({
    jwksUri: await providerKeysUri(oidc, document),
    algorithms: ASYMMETRIC,
  }))
}

/**
 * @param find the address of the keys, null if the client secret verifies tokens, and the algorithms that the
 *   gateway accepts of them
 */
async function inspect(
  http: ProviderHttp,
  issuer: string,
  find: (document: DiscoveryHttp) => Promise<{ jwksUri: string | null; algorithms: readonly string[] }>,
): Promise<ProviderInspection> {
  const { document, seen } = observed(http)
  try {
    const { jwksUri, algorithms } = await find(document).catch(async (cause: unknown) => {
      throw (seen.last === null ? null : await faultOf(seen.last, issuer)) ?? cause
    })
    if (jwksUri === null) return { keys: null, clockAhead: seen.clockAhead }
    const set = await readKeys(jwksUri, document.fetch)
    const usable = await Promise.all(set.jwks().keys.map((key) => isUsable(key, algorithms)))
    const keys = usable.filter(Boolean).length
    if (keys === 0)
      throw new ProviderError(
        `none of the provider's ${usable.length} keys verifies tokens of an algorithm that it advertises and this gateway accepts`,
      )
    return { keys, clockAhead: seen.clockAhead }
  } finally {
    await http.close()
  }
}

/** The client, and what the last response says. */
function observed(http: ProviderHttp) {
  const seen = { clockAhead: null as number | null, last: null as Response | null }
  const fetch: ProviderHttp['fetch'] = async (url, options) => {
    const sentAt = Date.now()
    const response = await http.fetch(url, options)
    seen.last = response.clone()
    seen.clockAhead = clockAhead(response.headers, (sentAt + Date.now()) / 2)
    return response
  }
  const document: DiscoveryHttp = {
    fetch,
    addressFault: (url, what) => http.addressFault(url, what),
    requestFault: (url, what) => http.requestFault(url, what),
  }
  return { document, seen }
}

/** The fault of the discovery document, in more detail than the library has; null: it is not known. */
async function faultOf(document: Response, issuer: string): Promise<ProviderError | null> {
  if (document.status !== 200)
    return new ProviderError(
      `the provider answered the request for its discovery document with ${document.status}`,
    )
  const parsed = parseJson(await document.text())
  const claimedIssuer = 'value' in parsed && isJsonObject(parsed.value) ? parsed.value.issuer : undefined
  if (typeof claimedIssuer !== 'string' || claimedIssuer === issuer) return null
  return new ProviderError(`the discovery document names another issuer, ${sanitizeName(claimedIssuer)}`)
}

/**
 * A cache sends the time at which it got the response, and the seconds since then (RFC 9111, section 5.1).
 */
function clockAhead(headers: Headers, now: number): number | null {
  const date = Date.parse(headers.get('date') ?? '')
  const age = Number(headers.get('age') ?? 0)
  return Number.isFinite(date) && Number.isFinite(age) ? date + age * 1000 - now : null
}

async function isUsable(key: JWK, algorithms: readonly string[]): Promise<boolean> {
  if (key.use !== undefined && key.use !== 'sig') return false
  const [algorithm] = algorithms.filter((each) => fits(key, each))
  if (algorithm === undefined) return false
  const imported = await importJWK(key, algorithm).catch(() => null)
  if (imported === null || imported instanceof Uint8Array) return false
  const { modulusLength = MIN_RSA_BITS } = imported.algorithm as { readonly modulusLength?: number }
  return modulusLength >= MIN_RSA_BITS
}

/** RFC 7518, sections 3.3 and 3.5. */
const MIN_RSA_BITS = 2048

/** JSON Web Algorithms (RFC 7518, section 3.1; RFC 8037, section 3.1). */
function fits({ alg, kty, crv }: JWK, algorithm: string): boolean {
  if (alg !== undefined && alg !== algorithm) return false
  if (/^[RP]S/.test(algorithm)) return kty === 'RSA'
  if (algorithm.startsWith('ES')) return kty === 'EC' && crv === CURVES[algorithm]
  return kty === 'OKP' && crv === 'Ed25519'
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }
