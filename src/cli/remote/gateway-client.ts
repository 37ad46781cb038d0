/** The client for a gateway, which all commands share. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { CommandFailed, OutputFailed } from '../command.ts'
import { networkFault, strangeAnswer } from './no-answer.ts'
import { GatewayRefusal, problemOf } from './problem-text.ts'

export interface GatewayOptions {
  /** The address of the gateway, with the path before its endpoints, if there is one. */
  readonly url: URL
  readonly key: string
  readonly space: string
  /** Trusted certificates (PEM); undefined: those of Node.js. */
  readonly ca: string | undefined
  /** The time limit of each answer in ms, including the connection. */
  readonly timeout: number
  /** The most attempts of a request that only reads, or that was not sent; 4 by default. */
  readonly tries?: number
  /** The value of `Host`, if it differs from that in the URL. */
  readonly host?: string | undefined
  /** A signal that makes requests fail without further attempts. */
  readonly signal?: AbortSignal | undefined
}

type Query = Readonly<Record<string, string | number | null | undefined>>

export interface Sent {
  readonly method: string
  readonly query?: Query
  readonly body?: unknown
  /** An entity tag: the write is refused if the resource has another one. */
  readonly ifMatch?: string
  /** Whether a POST only reads, so that it can be sent again. */
  readonly reads?: boolean
}

export interface Answer<V> {
  readonly value: V
  /** The entity tag; null if there is none. */
  readonly tag: string | null
  /** The id of the request; '' if there is none. */
  readonly requestId: string
}

/** The default number of attempts. */
const TRIES = 4
/** The pause in ms before the second attempt; it doubles before each further one. */
const PAUSE = 200
const LONGEST_PAUSE = 5_000
/** The time in ms without a byte after which a stream is broken: a gateway sends a comment every 15 s. */
const SILENCE = 45_000
/** The most characters of an event. */
const MAX_EVENT = 1024 * 1024
const MAX_ANSWER = 256 * 1024 * 1024
/** The number of items of a page: the highest that the endpoints accept. */
const PAGE = 100
/** The admin space of a tenant whose configuration has none. */
export const DEFAULT_ADMIN_SPACE = 'admin'

export class Gateway {
  readonly #options: GatewayOptions
  #space: string
  /** The id of the request that asked for the admin space; '' if none was answered. */
  #spaceRequestId = ''
  readonly #agent: Agent
  /** The agent for streams, each of which keeps a connection. */
  readonly #streams: Agent

  constructor(options: GatewayOptions) {
    const { ca, timeout } = options
    // An authority of --ca is trusted without its issuer.
    const connect = { timeout, allowPartialTrustChain: true, ...(ca === undefined ? {} : { ca }) }
    this.#options = options
    this.#space = options.space
    this.#agent = new Agent({
      connect,
      connections: 1,
      pipelining: 1,
      headersTimeout: timeout,
      bodyTimeout: timeout,
      maxResponseSize: MAX_ANSWER,
    })
    this.#streams = new Agent({ connect, headersTimeout: timeout, bodyTimeout: SILENCE })
  }

  get origin(): string {
    return this.#options.url.origin
  }

  get space(): string {
    return this.#space
  }

  /**
   * Asks for the admin space of the key's tenant, and acts in it from now on. A gateway of an older version
   * does not tell it, nor does one whose sign-in endpoints are not below this URL.
   *
   * @throws GatewayRefusal, or CommandFailed if there is no answer
   */
  async enterAdminSpace(): Promise<string> {
    try {
      const answer = await this.send<{ readonly admin_space?: unknown }>('/auth/oidc/me', { method: 'GET' })
      const { admin_space: space } = answer.value
      this.#space = typeof space === 'string' && isSpaceId(space) ? space : DEFAULT_ADMIN_SPACE
      this.#spaceRequestId = answer.requestId
    } catch (cause) {
      const isElsewhere = cause instanceof GatewayRefusal && cause.problem.status === 404
      if (!isElsewhere && !(cause instanceof StrangeAnswer)) throw cause
      this.#space = DEFAULT_ADMIN_SPACE
    }
    return this.#space
  }

  /** Whether this request asked for the admin space. */
  askedForSpace(requestId: string): boolean {
    return requestId !== '' && requestId === this.#spaceRequestId
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#streams.destroy()])
  }

  async get<V>(path: string, query: Query = {}): Promise<V> {
    return (await this.send<V>(path, { method: 'GET', query })).value
  }

  /** Every item of a list, page by page. @param last returns the `after` of the next page */
  async *pages<V>(path: string, last: (item: V) => string, query: Query = {}): AsyncGenerator<V[]> {
    for (let after: string | null = null; ;) {
      const page: Page<V> = await this.get<Page<V>>(path, { limit: PAGE, ...query, after })
      if (!Array.isArray(page.data)) throw this.#strange('a list is expected')
      yield [...page.data]
      const end = page.data.at(-1)
      if (!page.has_more || end === undefined) return
      after = last(end)
    }
  }

  /**
   * Server-sent events (WHATWG HTML, section 9.2). Resolves when the stream is open. The stream ends when the
   * gateway ends it, or when the connection breaks.
   *
   * @throws GatewayRefusal, or CommandFailed if there is no answer
   */
  async events(path: string, query: Query = {}): Promise<ReturnType<typeof eventsOf>> {
    const { key } = this.#options
    const response = await request(this.#target(path, query), {
      dispatcher: this.#streams,
      headers: { accept: 'text/event-stream', 'x-api-key': key, space: this.#space },
    }).catch((cause: unknown) => {
      throw this.#failed(cause).error
    })
    const { statusCode: status, headers, body } = response
    if (status === 200 && /^text\/event-stream\b/.test(String(headers['content-type']))) return eventsOf(body)
    const problem = problemOf(status, parsed(await body.text()))
    if (problem !== null) throw new GatewayRefusal(problem, undefined)
    throw this.#strange(strangeAnswer(status, headers.location, this.#options.url))
  }

  /** Sends a request. @throws GatewayRefusal, or CommandFailed if there is no answer */
  async send<V>(path: string, sent: Sent): Promise<Answer<V>> {
    // The first attempt of a write may have succeeded: a second DELETE of a block would find nothing.
    const repeats = sent.method === 'GET' || sent.reads === true
    for (let tries = 1, pause = PAUSE; ; tries++, pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const result = await this.#exchange<V>(path, sent)
      if ('value' in result) return result
      const again = result.passing && (repeats || !result.sent)
      if (!again || tries >= (this.#options.tries ?? TRIES)) throw result.error
      const { signal } = this.#options
      await sleep(Math.max(pause, Math.min(result.after, LONGEST_PAUSE)), undefined, { signal }).catch(
        () => {},
      )
    }
  }

  async #exchange<V>(path: string, sent: Sent): Promise<Answer<V> | Failure> {
    const { key, timeout, host, signal } = this.#options
    try {
      const response = await request(this.#target(path, sent.query ?? {}), {
        dispatcher: this.#agent,
        method: sent.method as 'GET',
        headers: {
          accept: 'application/json',
          'x-api-key': key,
          space: this.#space,
          ...(host === undefined ? {} : { host }),
          ...(sent.ifMatch === undefined ? {} : { 'if-match': sent.ifMatch }),
          ...(sent.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: sent.body === undefined ? null : JSON.stringify(sent.body),
        signal: AbortSignal.any([AbortSignal.timeout(timeout), ...(signal === undefined ? [] : [signal])]),
      })
      const text = await response.body.text()
      const { statusCode: status, headers } = response
      const requestId = String(headers['x-request-id'] ?? '')
      if (status === 204) return { value: undefined as V, tag: null, requestId }
      const value = parsed(text)
      if (status === 200 && value !== null)
        return { value: value as V, tag: typeof headers.etag === 'string' ? headers.etag : null, requestId }
      const problem = problemOf(status, value)
      if (problem === null)
        return this.#failed(this.#strange(strangeAnswer(status, headers.location, this.#options.url)))
      const after = 1000 * (Number(headers['retry-after']) || 0)
      return { error: new GatewayRefusal(problem, sent.body), sent: true, passing: status === 503, after }
    } catch (cause) {
      return this.#failed(cause, sent)
    }
  }

  #target(path: string, query: Query): string {
    const { origin, pathname } = this.#options.url
    const parameters = new URLSearchParams()
    for (const [name, value] of Object.entries(query))
      if (value !== null && value !== undefined) parameters.set(name, String(value))
    const text = parameters.size === 0 ? '' : `?${parameters}`
    return `${origin}${pathname.replace(/\/$/, '')}${path}${text}`
  }

  #failed(cause: unknown, sent?: Sent): Failure {
    const final = { sent: true, passing: false, after: 0 }
    if (cause instanceof CommandFailed) return { error: cause, ...final }
    if (this.#options.signal?.aborted === true)
      return { error: new CommandFailed(`the request to ${this.origin} was interrupted`), ...final }
    const fault = networkFault(cause, this.#options)
    const writes = sent !== undefined && sent.method !== 'GET' && sent.reads !== true
    const doubt = fault.sent && writes ? '. The change may have been made: look before you try again' : ''
    const Kind = fault.sent ? CommandFailed : Unreached
    const error = new Kind(`the request to ${this.origin} failed: ${fault.text}${doubt}`, { cause })
    return { error, sent: fault.sent, passing: fault.passing, after: 0 }
  }

  #strange(what: string): StrangeAnswer {
    return new StrangeAnswer(`${this.origin} does not answer as a Seatgate gateway: ${what}`)
  }
}

/** No part of the request has reached the gateway: a write has changed nothing. */
export class Unreached extends CommandFailed {}

/** Another program has answered. */
class StrangeAnswer extends CommandFailed {}

interface Page<V> {
  readonly data: readonly V[]
  readonly has_more: boolean
}

interface Failure {
  readonly error: CommandFailed
  /** Whether something may have reached the gateway. */
  readonly sent: boolean
  /** Whether a later attempt may succeed. */
  readonly passing: boolean
  /** The time in ms that the gateway asks to wait. */
  readonly after: number
}

/** The events of a stream, which ends if the connection breaks. */
async function* eventsOf(body: AsyncIterable<Buffer>) {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of body) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      if (rest.length > MAX_EVENT) return
      for (const block of blocks) {
        const event = /^event: (.*)$/m.exec(block)?.[1]
        const data = parsed(/^data: (.*)$/m.exec(block)?.[1] ?? '')
        if (event !== undefined && data !== null) yield { event, data }
      }
    }
  } catch (cause) {
    // A failure of the reader is no broken connection.
    if (cause instanceof CommandFailed || cause instanceof OutputFailed) throw cause
  }
}

/** The JSON object or array; null if the text is something else. */
function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}
