/**
 * Opens a WebSocket: sends the handshake on to the upstream, and begins the tunnel when it was answered as it must be.
 * Any other answer goes to the client as an HTTP answer, and the connection ends with it.
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Refusal } from '../../model/errors.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import type { ResponseWatch } from '../../http/server/client-response.ts'
import { ResponseRelay } from '../response-relay.ts'
import type { Refuse } from '../forward.ts'
import type { Target } from '../target.ts'
import type { Upstream } from '../upstream.ts'
import { givenUp, protocolError, timedOut, unreachable } from '../upstream-faults.ts'
import { ClientSide } from './client-side.ts'
import { type UpstreamHandshake, type UpstreamHandshakeListener, dial } from './dial.ts'
import { responseFault } from './handshake.ts'
import { responseHeaders, handshakeHeaders, headOf } from './headers.ts'
import { Tunnel } from './tunnel.ts'

export interface WebSocketPipeline {
  readonly refuse: Refuse
  /** The 101 is out: from here on `exchange.webSocket` is open. */
  opened(exchange: Exchange): void
}

/** The exchange was allowed, for a route of this upstream. Returns at once. */
export function openWebSocket(exchange: Exchange, upstream: Upstream, pipeline: WebSocketPipeline): void {
  const now = performance.now()
  const target = upstream.choose(now, false)
  if (target instanceof Refusal) return pipeline.refuse(exchange, target, upstream.cause)
  new Opening(exchange, upstream, pipeline).start(target, now)
}

class Opening implements UpstreamHandshakeListener, ResponseWatch {
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #pipeline: WebSocketPipeline
  readonly #headers: readonly string[]
  readonly #patience: number
  /** Monotonic ms; the timer looks at it when it fires. */
  #deadline = 0
  #timer: NodeJS.Timeout | null = null
  #target: Target | null = null
  #before: Target | null = null
  #epoch = 0
  #retries = 0
  #connected = false
  #request: ClientRequest | null = null
  #side = new ClientSide()
  #call: UpstreamHandshake | null = null
  #answer: ResponseRelay | null = null
  /** Nothing more is to be done, whatever is still told. */
  #over = false

  constructor(exchange: Exchange, upstream: Upstream, pipeline: WebSocketPipeline) {
    this.#exchange = exchange
    this.#upstream = upstream
    this.#pipeline = pipeline
    this.#headers = handshakeHeaders(exchange, upstream.config, upstream.proxies)
    const { responseTimeout } = exchange.evaluation?.decision.route ?? { responseTimeout: null }
    this.#patience = responseTimeout ?? upstream.config.responseTimeout
  }

  start(target: Target, now: number): void {
    this.#exchange.forwardedAt = now
    this.#exchange.response.watch(this)
    this.#timer = setTimeout(onTimer, this.#patience, this)
    this.#send(target, now)
  }

  #send(target: Target, now: number): void {
    this.#target = target
    this.#connected = false
    this.#side = new ClientSide()
    // Connecting has a limit of its own, which comes first.
    this.#deadline = now + this.#upstream.config.connectTimeout + this.#patience
    this.#epoch = target.begin(now)
    try {
      this.#call = this.#callTo(target)
      this.#request = dial(target.agent, this.#call, this.#side, this)
    } catch (error) {
      this.#fail(protocolError, error)
    }
  }

  /** The very bytes that were matched. */
  #callTo({ url }: Target): UpstreamHandshake {
    const { evaluation } = this.#exchange
    const path = evaluation === null ? '' : evaluation.decision.path + evaluation.query
    const host = this.#upstream.config.passHost ? [] : ['host', url.host]
    return { path, headers: [...host, ...this.#headers] }
  }

  connected(): void {
    const now = performance.now()
    this.#connected = true
    this.#deadline = now + this.#patience
    this.#target?.ejection.connected(this.#epoch, now)
  }

  switched(answer: IncomingMessage, connection: Socket): void {
    const fault = responseFault(this.#call?.headers ?? [], answer)
    if (this.#over || fault !== null) {
      this.#side.destroy()
      connection.destroy()
      return this.#over ? undefined : this.#fail(protocolError, new Error(`WebSocket handshake: ${fault}`))
    }
    this.#answered()
    this.#over = true
    this.#leave()
    this.#open(answer, connection)
  }

  #open(answer: IncomingMessage, connection: Socket): void {
    const { response, request, requestIdLine } = this.#exchange
    const { websocketIdle: idle, websocketLifetime: lifetime } = this.#upstream.config
    try {
      response.writeHead(101, responseHeaders(answer, request), null, requestIdLine)
      response.flushHeaders()
    } catch (error) {
      connection.destroy()
      return this.#fail(protocolError, error)
    }
    // It may be open for a day: what only the handshake needed goes.
    this.#request = null
    this.#call = null
    this.#exchange.webSocket = new Tunnel(this.#exchange, this.#side, connection, { idle, lifetime })
    this.#pipeline.opened(this.#exchange)
  }

  /** No WebSocket: an answer like any other, to the end of it. */
  answered(answer: IncomingMessage): void {
    // http-proxy-3 would write it too.
    this.#side.destroy()
    if (this.#over) return void answer.destroy()
    this.#answered()
    const { bodyTimeout } = this.#upstream
    this.#answer = new ResponseRelay(this.#exchange, bodyTimeout, {
      resume: () => answer.resume(),
      unwritable: (error) => this.#fail(protocolError, error),
    })
    try {
      if ((answer.statusCode ?? 0) < 200) throw new Error(`status ${answer.statusCode}`)
      this.#answer.begin(headOf(answer))
    } catch (error) {
      return this.#fail(protocolError, error)
    }
    answer.setTimeout(bodyTimeout, () => this.#fail(timedOut, null))
    answer.on('data', (chunk: Buffer) => this.#pass(answer, chunk))
    answer.on('end', () => this.#ended(answer))
    answer.on('error', (error) => this.#fail(protocolError, error))
  }

  #pass(answer: IncomingMessage, chunk: Buffer): void {
    if (!this.#over && this.#answer?.write(chunk) === false) answer.pause()
  }

  #ended(answer: IncomingMessage): void {
    if (this.#over) return
    try {
      this.#answer?.end(answer.rawTrailers)
    } catch (error) {
      return this.#fail(protocolError, error)
    }
    this.#over = true
    this.#leave()
  }

  failed(error: Error): void {
    const target = this.#leave()
    if (target === null || this.#over) return
    const now = performance.now()
    // It had a connection, and that ended before an answer began.
    const blame = this.#connected
      ? this.#answer === null && isEnding(error)
        ? 'reset'
        : null
      : 'unreachable'
    if (blame !== null) this.#upstream.failed(target, this.#epoch, blame, error, now)
    const next = this.#connected ? null : this.#next(target, now)
    if (next === null) return this.#fail(this.#connected ? protocolError : unreachable, error)
    this.#upstream.retried(target, next, error)
    this.#retries++
    this.#before = target
    this.#send(next, now)
  }

  /** Only where no connection was to be had: nothing was sent. */
  #next(tried: Target, now: number): Target | null {
    if (this.#retries === this.#upstream.retries) return null
    return this.#upstream.another(tried, this.#before, false, false, now)
  }

  #answered(): void {
    const now = performance.now()
    this.#stopTimer()
    this.#exchange.respondedAt = now
    this.#target?.ejection.answered(this.#epoch, now)
  }

  #leave(): Target | null {
    const target = this.#target
    this.#target = null
    target?.end(this.#epoch)
    return target
  }

  expired(): void {
    const rest = this.#deadline - performance.now()
    if (rest > 0) this.#timer = setTimeout(onTimer, Math.ceil(rest), this)
    else this.#fail(timedOut, null)
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #fail(refusal: Refusal, cause: unknown): void {
    this.#answer?.spoil()
    this.#giveUp()
    this.#pipeline.refuse(this.#exchange, refusal, cause)
  }

  /** The client has left, or has its answer. */
  closed(): void {
    this.#answer?.close()
    if (!this.#over) this.#giveUp()
  }

  #giveUp(): void {
    this.#over = true
    this.#stopTimer()
    this.#leave()
    this.#side.destroy()
    this.#request?.destroy(givenUp)
  }
}

function onTimer(opening: Opening): void {
  opening.expired()
}

function isEnding(error: Error): boolean {
  return 'syscall' in error || ('code' in error && error.code === 'ECONNRESET')
}
