/**
 * Opens a WebSocket: sends the handshake to the upstream, and starts the tunnel after a valid 101. Any other response
 * goes to the client as an HTTP response and ends the connection.
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { forwardedTarget } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import type { ResponseListener } from '../../http/server/client-response.ts'
import { ResponseRelay } from '../response-relay.ts'
import type { Refuse } from '../forward.ts'
import type { Target } from '../target.ts'
import type { Upstream } from '../upstream.ts'
import { abandoned, faultName, protocolError, timedOut, unreachable } from '../upstream-faults.ts'
import { ClientSide } from './client-side.ts'
import { type UpstreamHandshake, type UpstreamHandshakeListener, dial } from './dial.ts'
import { responseFault } from './handshake.ts'
import { responseHeaders, handshakeHeaders, headOf } from './headers.ts'
import { Tunnel } from './tunnel.ts'

export interface WebSocketPipeline {
  readonly refuse: Refuse
  /** The 101 is sent: from here on `exchange.webSocket` is open. */
  opened(exchange: Exchange): void
}

/** Opens a WebSocket for an allowed exchange to the upstream of its route. Returns at once. */
export function openWebSocket(exchange: Exchange, upstream: Upstream, pipeline: WebSocketPipeline): void {
  const now = performance.now()
  const target = upstream.choose(now, false)
  if (target instanceof Refusal) return pipeline.refuse(exchange, target, upstream.cause)
  new Opening(exchange, upstream, pipeline).start(target, now)
}

class Opening implements UpstreamHandshakeListener, ResponseListener {
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #pipeline: WebSocketPipeline
  readonly #headers: readonly string[]
  readonly #responseTimeout: number
  /** Monotonic ms; the timer compares it when it fires. */
  #deadline = 0
  #timer: NodeJS.Timeout | null = null
  #target: Target | null = null
  #previous: Target | null = null
  #epoch = 0
  #retries = 0
  #connected = false
  #request: ClientRequest | null = null
  #clientSide = new ClientSide()
  #handshake: UpstreamHandshake | null = null
  #upstreamResponse: ResponseRelay | null = null
  /** Further events are ignored. */
  #finished = false

  constructor(exchange: Exchange, upstream: Upstream, pipeline: WebSocketPipeline) {
    this.#exchange = exchange
    this.#upstream = upstream
    this.#pipeline = pipeline
    this.#headers = handshakeHeaders(exchange, upstream)
    const { responseTimeout } = exchange.evaluation?.decision.route ?? { responseTimeout: null }
    this.#responseTimeout = responseTimeout ?? upstream.config.responseTimeout
  }

  start(target: Target, now: number): void {
    this.#exchange.forwardedAt = now
    this.#exchange.response.listen(this)
    this.#timer = setTimeout(onTimer, this.#responseTimeout, this)
    this.#send(target, now)
  }

  #send(target: Target, now: number): void {
    this.#target = target
    this.#exchange.target = target.origin
    this.#connected = false
    this.#clientSide = new ClientSide()
    // Connecting has its own timeout, which is shorter.
    this.#deadline = now + this.#upstream.config.connectTimeout + this.#responseTimeout
    this.#epoch = target.begin(now)
    try {
      this.#handshake = this.#handshakeFor(target)
      this.#request = dial(target.agent, this.#handshake, this.#clientSide, this)
    } catch (error) {
      this.#fail(protocolError, error)
    }
  }

  #handshakeFor({ url }: Target): UpstreamHandshake {
    const { evaluation } = this.#exchange
    const path = evaluation === null ? '' : forwardedTarget(evaluation)
    const host = this.#upstream.config.passHost ? [] : ['host', url.host]
    const traceParent = this.#exchange.trace?.attempt(url) ?? null
    const trace = traceParent === null ? [] : ['traceparent', traceParent]
    return { path, headers: [...host, ...this.#headers, ...trace] }
  }

  connected(): void {
    const now = performance.now()
    this.#connected = true
    this.#deadline = now + this.#responseTimeout
    this.#target?.ejection.connected(this.#epoch, now)
  }

  switched(upstreamResponse: IncomingMessage, connection: Socket): void {
    const fault = responseFault(this.#handshake?.headers ?? [], upstreamResponse)
    if (this.#finished || fault !== null) {
      this.#clientSide.destroy()
      connection.destroy()
      return this.#finished
        ? undefined
        : this.#fail(protocolError, new Error(`WebSocket handshake: ${fault}`))
    }
    this.#recordResponse(101)
    this.#exchange.trace?.attemptEnded(null)
    this.#finished = true
    this.#endAttempt()
    this.#open(upstreamResponse, connection)
  }

  #open(upstreamResponse: IncomingMessage, connection: Socket): void {
    const { response, responseLines } = this.#exchange
    const { websocketIdle: idle, websocketLifetime: lifetime } = this.#upstream.config
    try {
      response.writeHead(101, responseHeaders(upstreamResponse, this.#exchange), null, responseLines)
      response.flushHeaders()
    } catch (error) {
      connection.destroy()
      return this.#fail(protocolError, error)
    }
    // Released, as the WebSocket may stay open for a day.
    this.#request = null
    this.#handshake = null
    this.#exchange.webSocket = new Tunnel(this.#exchange, this.#clientSide, connection, { idle, lifetime })
    this.#pipeline.opened(this.#exchange)
  }

  /** An ordinary HTTP response instead of a WebSocket. */
  responseReceived(upstreamResponse: IncomingMessage): void {
    // http-proxy-3 would write the response too.
    this.#clientSide.destroy()
    if (this.#finished) return void upstreamResponse.destroy()
    this.#recordResponse(upstreamResponse.statusCode ?? 0)
    const { bodyTimeout } = this.#upstream
    this.#upstreamResponse = new ResponseRelay(this.#exchange, bodyTimeout, {
      resume: () => upstreamResponse.resume(),
      unwritable: (error) => this.#fail(protocolError, error),
    })
    try {
      if ((upstreamResponse.statusCode ?? 0) < 200) throw new Error(`status ${upstreamResponse.statusCode}`)
      this.#upstreamResponse.begin(headOf(upstreamResponse, upstreamResponse.rawHeaders))
    } catch (error) {
      return this.#fail(protocolError, error)
    }
    upstreamResponse.setTimeout(bodyTimeout, () => this.#fail(timedOut, null))
    upstreamResponse.on('data', (chunk: Buffer) => this.#pass(upstreamResponse, chunk))
    upstreamResponse.on('end', () => this.#ended(upstreamResponse))
    upstreamResponse.on('error', (error) => this.#fail(protocolError, error))
  }

  #pass(upstreamResponse: IncomingMessage, chunk: Buffer): void {
    if (!this.#finished && this.#upstreamResponse?.write(chunk) === false) upstreamResponse.pause()
  }

  #ended(upstreamResponse: IncomingMessage): void {
    if (this.#finished) return
    try {
      this.#upstreamResponse?.end(upstreamResponse.rawTrailers)
    } catch (error) {
      return this.#fail(protocolError, error)
    }
    this.#finished = true
    this.#exchange.trace?.attemptEnded(null)
    this.#endAttempt()
  }

  failed(error: Error): void {
    const target = this.#endAttempt()
    if (target === null || this.#finished) return
    this.#exchange.trace?.attemptEnded(faultName(error))
    const now = performance.now()
    // A reset is an end of the connection before a response.
    const blame = this.#connected
      ? this.#upstreamResponse === null && isConnectionEnd(error)
        ? 'reset'
        : null
      : 'unreachable'
    if (blame !== null) this.#upstream.failed(target, this.#epoch, blame, error, now)
    const next = this.#connected ? null : this.#next(target, now)
    if (next === null) return this.#fail(this.#connected ? protocolError : unreachable, error)
    this.#upstream.retried(target, next, error)
    this.#retries++
    this.#previous = target
    this.#send(next, now)
  }

  /** Only if no connection could be opened: nothing was sent. */
  #next(tried: Target, now: number): Target | null {
    if (this.#retries === this.#upstream.retries) return null
    return this.#upstream.retryTarget(tried, this.#previous, false, false, now)
  }

  #recordResponse(status: number): void {
    const now = performance.now()
    this.#exchange.trace?.responded(status)
    this.#stopTimer()
    this.#exchange.respondedAt = now
    this.#target?.ejection.responseStarted(this.#epoch, now)
  }

  #endAttempt(): Target | null {
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
    this.#upstreamResponse?.abort()
    this.#abandon()
    this.#pipeline.refuse(this.#exchange, refusal, cause)
  }

  /** The client has disconnected, or has its response. */
  closed(): void {
    this.#upstreamResponse?.close()
    if (!this.#finished) this.#abandon()
  }

  #abandon(): void {
    this.#finished = true
    this.#stopTimer()
    this.#endAttempt()
    this.#clientSide.destroy()
    this.#request?.destroy(abandoned)
  }
}

function onTimer(opening: Opening): void {
  opening.expired()
}

function isConnectionEnd(error: Error): boolean {
  return 'syscall' in error || ('code' in error && error.code === 'ECONNRESET')
}
