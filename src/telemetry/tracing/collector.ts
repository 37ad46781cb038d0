/** Posts batches to the collector (OTLP specification, "OTLP/HTTP"), and repeats what it may take later. */

import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Agent, request } from 'undici'
import type { TracesConfig } from '../../config/open-telemetry.ts'
import { CONTENT_TYPE, type PartialSuccess, readResponse } from './otlp.ts'

/** Bytes of a response: a short message. */
const MAX_RESPONSE = 64 * 1024
const MAX_HEADERS = 16 * 1024
/** ms before the second attempt, doubled with each further one; with jitter. */
const FIRST_WAIT = 1000
const MAX_WAIT = 8000
/** OTLP specification, "Failures": the collector is overloaded, or something before it has no target. */
const RETRYABLE = new Set([429, 502, 503, 504])

/** The batch is lost. Its message holds no header value and nothing of the response. */
class ExportFailed extends Error {}

/** May be sent again. */
class Retryable extends ExportFailed {
  /** The ms that the collector asks for; null if it does not say. */
  readonly after: number | null

  constructor(message: string, after: number | null) {
    super(message)
    this.after = after
  }
}

const compress = promisify(gzip)

export class Collector {
  readonly #config: TracesConfig
  readonly #agent: Agent
  readonly #headers: Readonly<Record<string, string>>

  constructor(config: TracesConfig) {
    const { ca, cert, key, timeout } = config
    this.#config = config
    this.#agent = new Agent({
      connect: {
        timeout,
        // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED does not apply. An authority that the variable
        // names is trusted by itself, though another one has issued it.
        rejectUnauthorized: true,
        allowPartialTrustChain: true,
        ...(ca === null ? {} : { ca }),
        ...(cert === null ? {} : { cert }),
        ...(key === null ? {} : { key }),
      },
      connections: 1,
      pipelining: 1,
      maxResponseSize: MAX_RESPONSE,
      maxHeaderSize: MAX_HEADERS,
    })
    this.#headers = headersOf(config)
  }

  /**
   * Rejects with {@link ExportFailed} when the time of the batch is over or the collector refuses it.
   *
   * @param last the process ends: no further attempt
   * @param cut ends an attempt
   */
  async send(batch: Uint8Array, last: AbortSignal, cut: AbortSignal): Promise<PartialSuccess> {
    const until = performance.now() + this.#config.batches.timeout
    const body = this.#config.gzip ? await compress(batch) : batch
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, MAX_WAIT)) {
      try {
        return await this.#attempt(body, Math.max(1, until - performance.now()), cut)
      } catch (error) {
        if (!(error instanceof Retryable) || last.aborted) throw error
        const pause = error.after ?? wait * (0.5 + Math.random() / 2)
        if (performance.now() + pause >= until) throw error
        // The pause ends early with the process, and the batch gets its last attempt.
        await setTimeout(pause, undefined, { signal: last, ref: false }).catch(() => {})
      }
    }
  }

  async #attempt(body: Uint8Array, remaining: number, cut: AbortSignal): Promise<PartialSuccess> {
    const { endpoint, timeout } = this.#config
    const signal = AbortSignal.any([cut, AbortSignal.timeout(Math.ceil(Math.min(timeout, remaining)))])
    try {
      const response = await request(endpoint, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: this.#headers,
        body,
        signal,
      })
      // Read whole, so that the limits of time and size hold.
      return this.#read(response.statusCode, response.headers['retry-after'], await response.body.bytes())
    } catch (error) {
      if (error instanceof ExportFailed) throw error
      throw new Retryable(nameOf(error), null)
    }
  }

  #read(status: number, retryAfter: string | string[] | undefined, body: Uint8Array): PartialSuccess {
    if (RETRYABLE.has(status)) throw new Retryable(`status ${status}`, pauseOf(retryAfter))
    if (status < 200 || status > 299) throw new ExportFailed(`status ${status}`)
    try {
      return readResponse(body)
    } catch {
      // The batch was taken; some collectors answer with a text.
      return { rejected: 0, message: '' }
    }
  }

  /** Ends at once what is in flight. */
  close(): Promise<void> {
    return this.#agent.destroy()
  }
}

function headersOf({ headers, gzip: compressed }: TracesConfig) {
  const own = { 'user-agent': 'seatgate', 'content-type': CONTENT_TYPE }
  const configured: Record<string, string> = {}
  for (let i = 0; i < headers.length; i += 2) configured[headers[i] ?? ''] = headers[i + 1] ?? ''
  return { ...own, ...configured, ...(compressed ? { 'content-encoding': 'gzip' } : {}) }
}

/** Seconds or a date (RFC 9110, section 10.2.3), in ms. */
function pauseOf(value: string | string[] | undefined): number | null {
  if (typeof value !== 'string') return null
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now())
}

/** `ECONNREFUSED`, or a short name of the error. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
