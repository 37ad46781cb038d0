/** An address that readers ask: an instance, or what is in front of the instances. */

import { Pool } from 'undici'
import type { GatewayOptions } from '../remote/gateway-client.ts'
import { faultCode } from '../remote/no-answer.ts'
import type { Credential } from './expected-answers.ts'
import { ALLOW } from './staleness.ts'

/** The built-in route that readers request: it answers 204 to callers with the permission `canary:read`. */
const CANARY = '/v1/canary'
/** The event stream with the decisions of the tenant, which requires the permission `decisions:list`. */
const STREAM = '/v1/decisions'
/** The number of reads after which a connection is closed: a balancer may send the next one elsewhere. */
const READS_PER_CONNECTION = 16

/** The statuses of the gateway without a decision on the permission. */
const UNDECIDED: ReadonlySet<number> = new Set([401, 429, 503])

interface PlaceOptions extends Pick<GatewayOptions, 'url' | 'space' | 'ca' | 'timeout' | 'host'> {
  /** The name in the report. */
  readonly name: string
  /** The most requests at one time. */
  readonly connections: number
}

export type ReadResult =
  | { readonly answer: string; readonly requestId: string }
  /** The gateway has not decided: it is away, cannot ask its store, or a proxy answers in its place. */
  | { readonly answer: null; readonly reason: string }

export class PlaceClient {
  readonly name: string
  readonly #options: PlaceOptions
  readonly #pool: Pool
  readonly #streams: Pool
  #reads = 0

  constructor(options: PlaceOptions) {
    const { url, connections, timeout, ca } = options
    this.name = options.name
    this.#options = options
    // An authority of --ca is trusted without its issuer.
    const connect = { timeout, allowPartialTrustChain: true, ...(ca === undefined ? {} : { ca }) }
    this.#pool = new Pool(url.origin, {
      connections,
      pipelining: 1,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      connect,
    })
    // A stream is silent while nothing is decided.
    this.#streams = new Pool(url.origin, { pipelining: 1, headersTimeout: timeout, bodyTimeout: 0, connect })
  }

  /** Reads once. Never rejects. */
  async ask(credential: Credential): Promise<ReadResult> {
    this.#reads++
    const entry = credential.kind === 'key' ? credential.entry : undefined
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        ...this.#optionsOf(CANARY, credential),
        ...(entry === undefined ? {} : { path: entry }),
        reset: this.#reads % READS_PER_CONNECTION === 0,
        signal: AbortSignal.timeout(this.#options.timeout),
      })
      const text = await body.text()
      const requestId = String(headers['x-request-id'] ?? '')
      if (statusCode === 204) return { answer: ALLOW, requestId }
      const code = codeOf(text)
      if (code !== null && (statusCode === 401 || statusCode === 403)) return { answer: code, requestId }
      // The upstream has answered, in whatever way.
      if (entry !== undefined && !UNDECIDED.has(statusCode)) return { answer: ALLOW, requestId }
      return { answer: null, reason: code ?? `status ${statusCode}` }
    } catch (cause) {
      return { answer: null, reason: faultCode(cause) || 'no answer' }
    }
  }

  /** Opens a stream of decisions. */
  async open(credential: Credential): Promise<OpenStream | NoStream> {
    try {
      const { statusCode, headers, body } = await this.#streams.request(
        this.#optionsOf(STREAM, credential, { accept: 'text/event-stream' }),
      )
      // An error also ends the stream, which the event of its end reports.
      body.on('error', () => {})
      const isStream = String(headers['content-type'] ?? '').startsWith('text/event-stream')
      if (statusCode === 200 && isStream) return { body, requestId: String(headers['x-request-id'] ?? '') }
      const text = statusCode === 200 ? '' : await body.text()
      body.destroy()
      return {
        refused: codeOf(text) ?? `status ${statusCode}`,
        passing: statusCode >= 500 || statusCode === 429,
      }
    } catch (cause) {
      return { refused: faultCode(cause) || 'no answer', passing: true }
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#streams.destroy()])
  }

  #optionsOf(path: string, credential: Credential, headers: Readonly<Record<string, string>> = {}) {
    const { url, space, host } = this.#options
    return {
      path: `${url.pathname.replace(/\/$/, '')}${path}`,
      method: 'GET' as const,
      headers: {
        ...headers,
        space,
        ...(host === undefined ? {} : { host }),
        ...(credential.kind === 'key'
          ? { 'x-api-key': credential.text }
          : { authorization: `Bearer ${credential.text}` }),
      },
    }
  }
}

export interface OpenStream {
  readonly body: NodeJS.ReadableStream & { destroy(): void }
  readonly requestId: string
}

export interface NoStream {
  /** Why there is no stream. */
  readonly refused: string
  /** Whether a later attempt may succeed: the gateway is away, or does not decide. */
  readonly passing: boolean
}

/** The code of a gateway's problem document (RFC 9457). The upstream of an entry may refuse with a code, too. */
function codeOf(text: string): string | null {
  try {
    const { code, type } = JSON.parse(text) as { code?: unknown; type?: unknown }
    const isOwn = typeof code === 'string' && type === `urn:seatgate:${code}`
    return isOwn && /^[a-z_]{1,64}$/.test(code) ? code : null
  } catch {
    return null
  }
}
