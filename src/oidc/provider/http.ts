/**
 * Requests to one tenant's provider: bounded in time, size and number, https, no redirect followed, and to no inner
 * address but the configured ones (`endpoint-addresses.ts`). One for each tenant, so that a provider or a name server that hangs holds
 * nothing of another's. Used by openid-client as its fetch, and by the
 * reading of keys.
 */

import { Agent, request } from 'undici'
import type { OidcConfig } from '../../config/config.ts'
import { type NameLimits, NameLookup } from './name-lookup.ts'
import { EndpointAddresses } from './endpoint-addresses.ts'
import { codeOf, networkError, ProviderError } from './provider-error.ts'

export interface HttpLimits {
  /** Until a connection stands, ms. */
  readonly connect?: number
  /** From the beginning to the last byte of the answer, ms. */
  readonly total?: number
  /** Bytes of an answer's body. */
  readonly maxBody?: number
  /** Requests at once; more are refused, since those under way show that the provider is slow. */
  readonly maxRequests?: number
  readonly names?: NameLimits
}

/** The part of openid-client's `CustomFetchOptions` that it uses. */
export interface FetchOptions {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

const CONNECTIONS = 64
const MAX_HEADER_BYTES = 32 * 1024
/** A connection that ends before the answer does. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
/** Statuses whose Response has no body (Fetch standard, section 2.2.3). */
const BODILESS = new Set([204, 205, 304])

export class ProviderHttp {
  readonly #allowInsecure: boolean
  readonly #reach: EndpointAddresses
  readonly #total: number
  readonly #maxRequests: number
  readonly #agent: Agent
  #inFlight = 0

  constructor(oidc: OidcConfig, limits: HttpLimits = {}) {
    const { connect = 3_000, total = 5_000, maxBody = 1024 * 1024, maxRequests = 256 } = limits
    this.#allowInsecure = oidc.allowInsecure
    this.#reach = new EndpointAddresses(oidc, new NameLookup(limits.names))
    this.#total = total
    this.#maxRequests = maxRequests
    this.#agent = new Agent({
      connect: this.#reach.connector(connect),
      connections: CONNECTIONS,
      pipelining: 1,
      headersTimeout: total,
      bodyTimeout: total,
      maxResponseSize: maxBody,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
  }

  /** Rejects with ProviderTrouble. A redirect comes back as what it is, and is no answer to anybody who asked. */
  readonly fetch = async (url: string, options: FetchOptions): Promise<Response> => {
    const trouble = this.troubleOf(url, 'an endpoint of the provider')
    if (trouble !== null) throw trouble
    if (this.#inFlight >= this.#maxRequests)
      throw new ProviderError('too many requests wait for the provider')
    this.#inFlight++
    try {
      return await this.#send(url, options)
    } catch (cause) {
      throw networkError(cause)
    } finally {
      this.#inFlight--
    }
  }

  /** Null: it may be asked, as far as the address as it is written says. @param what is there, for the log */
  troubleOf(url: string, what: string): ProviderError | null {
    if (!mayBeAsked(url, this.#allowInsecure)) return new ProviderError(`${what} is not https`)
    return this.#reach.troubleOf(url, what)
  }

  /** Resolves when nothing is under way. */
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
      return await read(url, options)
    } catch (cause) {
      // The provider closes a kept connection just as the request is sent (RFC 9110, section 9.2.2).
      if (options.method === 'GET' && CLOSED.has(codeOf(cause))) return read(url, options)
      throw cause
    }
  }
}

async function read(url: string, options: Parameters<typeof request>[1]): Promise<Response> {
  const answer = await request(url, options)
  // Read here, so that time and size bound all of it, and nobody has to remember to.
  const bytes = await answer.body.bytes()
  return new Response(BODILESS.has(answer.statusCode) ? null : bytes, {
    status: answer.statusCode,
    headers: flat(answer.headers),
  })
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** https anywhere; http on loopback, if that is allowed. */
export function mayBeAsked(url: string, allowInsecure: boolean): boolean {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
  return protocol === 'https:' || (protocol === 'http:' && allowInsecure && LOOPBACK.test(hostname))
}

function flat(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((each): [string, string] => [name, each]),
  )
}
