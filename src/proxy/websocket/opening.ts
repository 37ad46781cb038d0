/**
 * Opens a WebSocket: {@link WebSocketShares} admits it, the handshake goes to the upstream, and the tunnel starts after a
 * valid 101. Any other response goes to the client as an HTTP response and ends the connection.
 *
 * http-proxy-3 sends the handshake, and pipes the two connections after its success. It sees neither the client's request
 * nor the client's connection, so that nothing it derives from a request is sent (a path normalized by `new URL`; joined,
 * forwarded and guessed headers), and nothing it writes reaches the client:
 *
 * | http-proxy-3 | the gateway |
 * |---|---|
 * | copies the fields of the request | gives it a `Placeholder`, which has none |
 * | announces its own request (`proxyReqWs`) | replaces path and header lines, and listens before http-proxy-3 does |
 * | writes a 101 to the client | has validated the response, and sent a 101 of its own; a `ClientSide` drops the other |
 * | pipes client and upstream | has a `ClientSide` in place of the client, and the tunnel behind it |
 * | relays any other response to the client | destroys the `ClientSide`, and relays the response itself |
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Duplex } from 'node:stream'
import { ProxyServer } from 'http-proxy-3'
import type { Limits } from '../../config/config.ts'
import { IncomingMessage as Message } from '../../lib/node-http.ts'
import { type Entry, Ledger } from '../../lib/ledger.ts'
import { forwardedTarget } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import { ConnectionLost } from '../../http/client/upstream-request.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { linesForUpstreamResponse } from '../../http/server/gateway-lines.ts'
import { openedWebSocket } from '../../http/server/open-web-socket.ts'
import type { ResponseListener } from '../../http/server/client-response.ts'
import { type AttemptOwner, Attempts } from '../attempts.ts'
import { knownNetwork } from '../client-network.ts'
import type { TrustedProxies } from '../forwarded.ts'
import { ResponseRelay } from '../response-relay.ts'
import type { Refuse } from '../forward.ts'
import type { Target } from '../target.ts'
import type { Upstream } from '../upstream.ts'
import { abandoned, protocolError, timedOut } from '../upstream-faults.ts'
import { handshakeHeaders, headOf, responseFault, switchingFields } from './websocket-protocol.ts'
import { Tunnel } from './tunnel.ts'

export interface WebSocketPipeline {
  readonly refuse: Refuse
  /** The 101 is sent: from here on `openedWebSocket` is filled. */
  opened(exchange: Exchange): void
}

/** The limit of a response header section, as for other requests. */
const MAX_HEADER_BYTES = 64 * 1024

/** The agent determines the address and TLS. */
const NOWHERE = { protocol: 'http:', host: 'upstream.invalid', port: 80 }

/** Opens a WebSocket for an allowed exchange to the upstream of its route. Returns at once. */
export function openWebSocket(exchange: Exchange, upstream: Upstream, pipeline: WebSocketPipeline): void {
  const now = performance.now()
  const target = upstream.choose(exchange, false, now)
  if (target instanceof Refusal) return pipeline.refuse(exchange, target, upstream.cause)
  new Opening(exchange, upstream, pipeline).start(target, now)
}

class Opening implements AttemptOwner, ResponseListener {
  readonly #exchange: Exchange
  readonly #upstream: Upstream
  readonly #pipeline: WebSocketPipeline
  readonly #attempts: Attempts
  readonly #headers: readonly string[]
  /** A handshake has no body. */
  readonly awaitsClient = false
  /** Of the attempt: the header lines as sent, the request of http-proxy-3, and its client. */
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
    const placeholder = new Placeholder(this)
    // http-proxy-3 copies `ssl` into the options of its request.
    const options = { target: NOWHERE, agent, ssl: { maxHeaderSize: MAX_HEADER_BYTES } }
    try {
      proxy.ws(placeholder, this.#clientSide, Buffer.alloc(0), options, (error) =>
        this.#attempts.failed(asConnectionLost(error)),
      )
    } catch (error) {
      this.refused(protocolError, error)
    }
    // http-proxy-3 references it for the life of the WebSocket.
    placeholder.opening = null
  }

  /** Nothing of this request is sent yet. Throws if the lines cannot be sent. */
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

/** As of other connections: the end of one before a response is a fault of the target. */
function asConnectionLost(error: NodeJS.ErrnoException): Error {
  const { code = '', message } = error
  const isEnd = 'syscall' in error || code === 'ECONNRESET'
  return isEnd ? new ConnectionLost(message, code, false, error) : error
}

const NOT_CONNECTED = new Socket()

/** In place of the client's request: http-proxy-3 copies its fields, of which there are none but those of the handshake. */
class Placeholder extends Message {
  override method = 'GET'
  override url = '/'
  override httpVersion = '1.1'
  override httpVersionMajor = 1
  opening: Opening | null

  constructor(opening: Opening) {
    super(NOT_CONNECTED)
    this.headers = { connection: 'Upgrade', upgrade: 'websocket' }
    this.opening = opening
  }
}

const proxy = new ProxyServer({})
// Errors of the client connection, which http-proxy-3 does not have.
proxy.on('error', () => {})
proxy.on('proxyReqWs', (outgoing, request) => {
  try {
    if (request instanceof Placeholder) request.opening?.prepare(outgoing)
  } catch (error) {
    // The request has a connection already, whose end has no other listener.
    outgoing.on('error', () => {}).destroy()
    throw error
  }
})

/**
 * In place of the client's connection: reads return the bytes of the client, writes go to the client. Before the tunnel is
 * open nothing here touches the client, which may still get an HTTP response.
 */
export class ClientSide extends Duplex {
  #tunnel: Tunnel | null = null
  /** http-proxy-3 first writes a 101 with fields of the upstream. */
  #headSeen = false

  constructor() {
    super({ allowHalfOpen: true })
    // The connections themselves report their errors.
    this.on('error', () => {})
  }

  open(tunnel: Tunnel): void {
    this.#tunnel = tunnel
  }

  override _read(): void {
    this.#tunnel?.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (this.#tunnel === null) return done()
    if (this.#headSeen) return this.#tunnel.write(chunk, done)
    this.#headSeen = true
    done()
  }

  override _final(done: () => void): void {
    this.#tunnel?.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#tunnel?.destroy()
    done(error)
  }

  /** Methods of `net.Socket` that http-proxy-3 calls. */
  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }
}

export type WebSocketLimits = Pick<Limits, 'websockets' | 'websocketsPerTenant' | 'websocketsPerCaller'>

/** The bound that refused a handshake. */
export type WebSocketBound = 'all' | 'tenant' | 'caller'

const refusals: Readonly<Record<WebSocketBound, Refusal>> = {
  all: new Refusal('unavailable', 'The gateway has reached its limit of WebSockets.'),
  tenant: new Refusal('unavailable', 'The tenant has reached its limit of WebSockets.'),
  caller: new Refusal('unavailable', 'The caller has reached its limit of WebSockets.'),
}

/**
 * Limits WebSockets that are open or in their handshake: of all, of each tenant and of each caller. WebSockets are
 * never evicted, so their number needs a bound.
 */
export class WebSocketShares {
  readonly #refused: (by: WebSocketBound) => void
  readonly #open = new Ledger<Exchange>()
  readonly #entries = new Map<Exchange, Entry<Exchange>>()

  constructor(refused: (by: WebSocketBound) => void) {
    this.#refused = refused
  }

  /**
   * For an allowed handshake.
   *
   * @returns null if it is admitted
   */
  admit(exchange: Exchange, proxies: TrustedProxies, limits: WebSocketLimits): Refusal | null {
    const [tenant, caller] = ownerOf(exchange, proxies)
    const by =
      this.#open.held(tenant, caller) >= limits.websocketsPerCaller
        ? 'caller'
        : this.#open.held(tenant) >= limits.websocketsPerTenant
          ? 'tenant'
          : this.#open.weight >= limits.websockets
            ? 'all'
            : null
    if (by !== null) {
      this.#refused(by)
      return refusals[by]
    }
    this.#entries.set(exchange, this.#open.add(exchange, [tenant, caller]))
    return null
  }

  ended(exchange: Exchange): void {
    this.#entries.get(exchange)?.remove()
    this.#entries.delete(exchange)
  }
}

/** Callers of public routes are identified by their networks. */
function ownerOf(
  { request, evaluation }: Exchange,
  proxies: TrustedProxies,
): [tenant: string, caller: string] {
  const principal = evaluation?.decision.principal ?? null
  if (principal === null) return ['public', `address ${knownNetwork(request, proxies) ?? 'unknown'}`]
  const { method, tenant, user } = principal
  // The tokens and sessions of a user count together. The id of an API key is not the id of a user.
  return [`tenant ${tenant}`, `${method === 'api-key' ? 'key' : 'user'} ${user}`]
}
