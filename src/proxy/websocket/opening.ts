/**
 * Opens a WebSocket that `websocket-shares.ts` admits: the handshake goes to the upstream, and the tunnel
 * starts after a valid 101. Any other response goes to the client as an HTTP response and ends the
 * connection.
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { forwardedTarget } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import { ConnectionLost } from '../../http/client/upstream-request.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { linesForUpstreamResponse } from '../../http/server/gateway-lines.ts'
import { openedWebSocket } from '../../http/server/open-web-socket.ts'
import type { ResponseListener } from '../../http/server/client-response.ts'
import { type AttemptOwner, Attempts } from '../attempts.ts'
import { ResponseRelay } from '../response-relay.ts'
import type { Refuse } from '../forward.ts'
import type { Target } from '../target.ts'
import type { Upstream } from '../upstream.ts'
import { abandoned, protocolError, timedOut } from '../upstream-faults.ts'
import { handshakeHeaders, headOf, responseFault, switchingFields } from './websocket-handshake.ts'
import { Tunnel } from './tunnel.ts'
import { ClientSide, type HandshakeOwner, sendHandshake } from './websocket-proxy.ts'

interface WebSocketPipeline {
  readonly refuse: Refuse
  /** The 101 is sent: from here on `openedWebSocket` is filled. */
  opened(exchange: Exchange): void
}

/** Opens a WebSocket for an allowed exchange to the upstream of its route. Returns at once. */
export function openWebSocket(exchange: Exchange, upstream: Upstream, pipeline: WebSocketPipeline): void {
  const now = performance.now()
  const target = upstream.choose(exchange, false, now)
  if (target instanceof Refusal) return pipeline.refuse(exchange, target, upstream.cause)
  new Opening(exchange, upstream, pipeline).start(target, now)
}

class Opening implements AttemptOwner, HandshakeOwner, ResponseListener {
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #pipeline: WebSocketPipeline
  readonly #attempts: Attempts
  readonly #headers: readonly string[]
  /** A handshake has no body. */
  readonly awaitsClient = false
  /** The header lines of the attempt as sent, the request of http-proxy-3, and its client. */
  #lines: readonly string[] = []
  #request: ClientRequest | null = null
  #clientSide = new ClientSide()
  /** Another response than a 101. */
  #relay: ResponseRelay | null = null
  /** Further events are ignored. */
  #finished = false

  constructor(exchange: Exchange, upstream: Upstream, pipeline: WebSocketPipeline) {
    this.#exchange = exchange
    this.#upstream = upstream
    this.#pipeline = pipeline
    this.#attempts = new Attempts(exchange, upstream, false, this)
    this.#headers = handshakeHeaders(exchange, upstream)
  }

  start(target: Target, now: number): void {
    this.#exchange.response.listen(this)
    this.#attempts.start(target, now)
  }

  send({ url, agent }: Target, traceParent: string | null): void {
    const host = this.#upstream.config.passHost ? [] : ['host', url.host]
    const trace = traceParent === null ? [] : ['traceparent', traceParent]
    this.#lines = [...host, ...this.#headers, ...trace]
    this.#clientSide = new ClientSide()
    try {
      sendHandshake(this.#clientSide, agent, this)
    } catch (error) {
      this.refused(protocolError, error)
    }
  }

  failed(error: NodeJS.ErrnoException): void {
    this.#attempts.failed(asConnectionLost(error))
  }

  prepare(request: ClientRequest): void {
    const { evaluation } = this.#exchange
    this.#request = request
    for (const name of request.getHeaderNames()) request.removeHeader(name)
    const lines = this.#lines
    for (let i = 0; i < lines.length; i += 2) request.appendHeader(lines[i] ?? '', lines[i + 1] ?? '')
    // Exactly the bytes that the router matched.
    request.path = evaluation === null ? '' : forwardedTarget(evaluation)
    request.on('socket', () => this.#attempts.connected())
    request.on('upgrade', (response, connection) => this.#switched(response, connection as Socket))
    request.on('response', (response) => this.#responded(response))
  }

  #switched(upstreamResponse: IncomingMessage, connection: Socket): void {
    const fault = responseFault(this.#lines, upstreamResponse)
    if (this.#finished || fault !== null) {
      this.#clientSide.destroy()
      connection.destroy()
      if (!this.#finished) this.refused(protocolError, new Error(`WebSocket handshake: ${fault}`))
      return
    }
    this.#attempts.responded(101)
    this.#attempts.succeeded()
    this.#finished = true
    this.#open(upstreamResponse, connection)
  }

  #open(upstreamResponse: IncomingMessage, connection: Socket): void {
    const { response } = this.#exchange
    try {
      response.writeHead(
        101,
        switchingFields(upstreamResponse, this.#exchange),
        null,
        linesForUpstreamResponse(this.#exchange),
      )
      response.flushHeaders()
    } catch (error) {
      connection.destroy()
      return this.refused(protocolError, error)
    }
    // Released, as the WebSocket may stay open for a day.
    this.#request = null
    this.#lines = []
    const tunnel = new Tunnel(this.#exchange, this.#clientSide, connection, this.#upstream.config)
    this.#clientSide.open(tunnel)
    openedWebSocket.set(this.#exchange, tunnel)
    this.#pipeline.opened(this.#exchange)
  }

  /** An ordinary HTTP response instead of a WebSocket. */
  #responded(upstreamResponse: IncomingMessage): void {
    this.#clientSide.destroy()
    if (this.#finished) return void upstreamResponse.destroy()
    const status = upstreamResponse.statusCode ?? 0
    this.#attempts.responseStarted()
    this.#attempts.responded(status)
    const { bodyTimeout } = this.#upstream.config
    const relay = new ResponseRelay(this.#exchange, bodyTimeout, {
      resume: () => upstreamResponse.resume(),
      unwritable: (error) => this.refused(protocolError, error),
    })
    this.#relay = relay
    try {
      if (status < 200) throw new Error(`status ${status}`)
      relay.begin(headOf(upstreamResponse, upstreamResponse.rawHeaders))
    } catch (error) {
      return this.refused(protocolError, error)
    }
    upstreamResponse.setTimeout(bodyTimeout, () => this.refused(timedOut, null))
    upstreamResponse.on('data', (chunk: Buffer) => {
      if (!this.#finished && !relay.write(chunk)) upstreamResponse.pause()
    })
    upstreamResponse.on('end', () => this.#ended(relay, upstreamResponse.rawTrailers))
    upstreamResponse.on('error', (error) => this.refused(protocolError, error))
  }

  #ended(relay: ResponseRelay, trailers: readonly string[]): void {
    if (this.#finished) return
    try {
      relay.end(trailers)
    } catch (error) {
      return this.refused(protocolError, error)
    }
    this.#finished = true
    this.#attempts.succeeded()
  }

  refused(refusal: Refusal, cause: unknown): void {
    this.#relay?.abort()
    this.#abandon()
    this.#pipeline.refuse(this.#exchange, refusal, cause)
  }

  /** The client has disconnected, or has its response. */
  closed(): void {
    this.#relay?.close()
    if (!this.#finished) this.#abandon()
  }

  #abandon(): void {
    this.#finished = true
    this.#attempts.abandon()
    this.#attempts.end()
    this.#clientSide.destroy()
    this.#request?.destroy(abandoned)
  }
}

/** The end of a connection before a response is a fault of the target, as for other requests. */
function asConnectionLost(error: NodeJS.ErrnoException): Error {
  const { code = '', message } = error
  const isEnd = 'syscall' in error || code === 'ECONNRESET'
  return isEnd ? new ConnectionLost(message, code, false, error) : error
}
