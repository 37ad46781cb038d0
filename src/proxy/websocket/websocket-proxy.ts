/**
 * Sends WebSocket handshakes with http-proxy-3, which pipes the two connections after a success. No other
 * file imports it. It sees neither the client's request nor the client's connection, so that nothing it
 * derives from a request is sent (a path normalized by `new URL`; joined, forwarded and guessed headers), and
 * nothing it writes reaches the client:
 *
 * | http-proxy-3 | the gateway |
 * |---|---|
 * | copies the fields of the request | gives it a `Placeholder`, which has none |
 * | announces its own request (`proxyReqWs`) | replaces path and header lines, and listens before http-proxy-3 does |
 * | writes a 101 to the client | has validated the response, and sent a 101 of its own; a `ClientSide` drops the other |
 * | pipes client and upstream | has a `ClientSide` in place of the client, which leads to the tunnel |
 * | relays any other response to the client | destroys the `ClientSide`, and relays the response itself |
 */

import type { Agent, ClientRequest } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { ProxyServer } from 'http-proxy-3'
import { IncomingMessage as Message } from '../../lib/node-http.ts'
import type { Tunnel } from './tunnel.ts'

/** The limit of a response header section, as for other requests. */
const MAX_HEADER_BYTES = 64 * 1024

/** The agent determines the address and TLS. */
const NOWHERE = { protocol: 'http:', host: 'upstream.invalid', port: 80 }

/** Who sends a handshake. */
export interface HandshakeOwner {
  /** Replaces path and header lines before anything is sent. Throws if the lines cannot be sent. */
  prepare(request: ClientRequest): void
  /** The handshake has no response. */
  failed(error: NodeJS.ErrnoException): void
}

/**
 * Sends a handshake. Throws what `prepare` throws.
 *
 * @param clientSide what http-proxy-3 takes for the client
 */
export function sendHandshake(clientSide: ClientSide, agent: Agent, owner: HandshakeOwner): void {
  const placeholder = new Placeholder(owner)
  // http-proxy-3 copies `ssl` into the options of its request.
  const options = { target: NOWHERE, agent, ssl: { maxHeaderSize: MAX_HEADER_BYTES } }
  try {
    proxy.ws(placeholder, clientSide, Buffer.alloc(0), options, (error) => owner.failed(error))
  } finally {
    // http-proxy-3 references it for the life of the WebSocket.
    placeholder.owner = null
  }
}

const NOT_CONNECTED = new Socket()

/** A request in place of the client's, with the fields of the handshake alone, which http-proxy-3 copies. */
class Placeholder extends Message {
  override method = 'GET'
  override url = '/'
  override httpVersion = '1.1'
  override httpVersionMajor = 1
  owner: HandshakeOwner | null

  constructor(owner: HandshakeOwner) {
    super(NOT_CONNECTED)
    this.headers = { connection: 'Upgrade', upgrade: 'websocket' }
    this.owner = owner
  }
}

const proxy = new ProxyServer({})
// Errors of the client connection, which http-proxy-3 does not have.
proxy.on('error', () => {})
proxy.on('proxyReqWs', (outgoing, request) => {
  try {
    if (request instanceof Placeholder) request.owner?.prepare(outgoing)
  } catch (error) {
    // The request has a connection already, whose end has no other listener.
    outgoing.on('error', () => {}).destroy()
    throw error
  }
})

/**
 * In place of the client's connection: reads return the bytes of the client, writes go to the client. Before
 * the tunnel is open nothing here touches the client, which may still get an HTTP response.
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
