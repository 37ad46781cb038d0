/**
 * HTTP client for one tenant's provider: https, no redirects, inner addresses only if configured
 * (`endpoint-addresses.ts`), by the proxy that the environment names, with limits of time, size and number.
 * Each tenant has its own client, so that a provider or a name server that hangs does not delay other
 * tenants.
 */

import { Agent, request } from 'undici'
import type { ProviderLimits } from '../../config/provider-limits.ts'
import type { ProviderProxies } from '../../config/provider-proxies.ts'
import { NameLookup } from './name-lookup.ts'
import { EndpointAddresses, type ProviderPlace } from './endpoint-addresses.ts'
import { codeOf, networkError, ProviderError } from './provider-errors.ts'

export interface HttpLimits extends ProviderLimits {
  /** Left out: every address is asked directly. */
  readonly proxies?: ProviderProxies
}

/** The members of openid-client's `CustomFetchOptions` in use. */
export interface FetchOptions {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

const DEFAULTS = { connect: 3_000, total: 5_000, maxBody: 1024 * 1024, maxRequests: 256 }

const CONNECTIONS = 64
const MAX_HEADER_BYTES = 32 * 1024
/** Error codes of a connection closed before the response is complete. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** Null body statuses (Fetch standard, section 2.2.3). */
const BODILESS = new Set([204, 205, 304])

export class ProviderHttp {
  readonly #allowInsecure: boolean
  readonly #addresses: EndpointAddresses
  readonly #total: number
  readonly #maxRequests: number
  readonly #agent: Agent
  #inFlight = 0

  constructor(place: ProviderPlace & { readonly allowInsecure: boolean }, limits: HttpLimits = {}) {
    const { connect, total, maxBody, maxRequests, names, proxies } = { ...DEFAULTS, ...limits }
    this.#allowInsecure = place.allowInsecure
    this.#addresses = new EndpointAddresses(place, new NameLookup(names), proxies)
    this.#total = total
    this.#maxRequests = maxRequests
    this.#agent = new Agent({
      connect: this.#addresses.connector(connect),
      connections: CONNECTIONS,
      pipelining: 1,
      headersTimeout: total,
      bodyTimeout: total,
      maxResponseSize: maxBody,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
  }

  /** Rejects with ProviderError. Redirects are not followed: a 3xx response is returned as it is. */
  readonly fetch = async (url: string, options: FetchOptions): Promise<Response> => {
    const fault = this.requestFault(url, 'an endpoint of the provider')
    if (fault !== null) throw fault
    if (this.#inFlight >= this.#maxRequests)
      throw new ProviderError('too many requests to the provider are pending')
    this.#inFlight++
    try {
      return await this.#send(url, options)
    } catch (cause) {
      throw networkError(cause)
    } finally {
      this.#inFlight--
    }
  }

  /**
   * The fault of an address that must not be asked; null: the URL is allowed as written.
   *
   * @param what name of the endpoint, for the log
   */
  addressFault(url: string, what: string): ProviderError | null {
    if (!isAllowedScheme(url, this.#allowInsecure)) return new ProviderError(`${what} is not https`)
    return this.#addresses.addressFault(url, what)
  }

  /** The same for an address that the gateway itself requests, perhaps through a proxy. */
  requestFault(url: string, what: string): ProviderError | null {
    return this.addressFault(url, what) ?? this.#addresses.proxyFault(url, what)
  }

  /** Resolves when no request is in flight. */
  close(): Promise<void> {
    return this.#agent.close()
  }

  async #send(url: string, { method, headers, body, signal }: FetchOptions): Promise<Response> {
    const timeout = AbortSignal.timeout(this.#total)
    const options = {
      dispatcher: this.#agent,
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      body: body instanceof URLSearchParams ? body.toString() : null,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    } as const
    try {
      return await fetchWhole(url, options)
    } catch (cause) {
      // The provider may close an idle connection while the request is sent: retry GET (RFC 9110, section
      // 9.2.2).
      if (options.method === 'GET' && CLOSED.has(codeOf(cause))) return fetchWhole(url, options)
      throw cause
    }
  }
}

async function fetchWhole(url: string, options: Parameters<typeof request>[1]): Promise<Response> {
  const response = await request(url, options)
  // The body is read here, so that the limits of time and size cover it.
  const bytes = await response.body.bytes()
  return new Response(BODILESS.has(response.statusCode) ? null : bytes, {
    status: response.statusCode,
    headers: headerPairs(response.headers),
  })
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** https, or http on loopback if allowed. */
export function isAllowedScheme(url: string, allowInsecure: boolean): boolean {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
  return protocol === 'https:' || (protocol === 'http:' && allowInsecure && LOOPBACK.test(hostname))
}

function headerPairs(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((each): [string, string] => [name, each]),
  )
}
