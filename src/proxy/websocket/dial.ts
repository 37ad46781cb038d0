/**
 * The handshake with an upstream by http-proxy-3, which also pipes the two connections after its success. Nothing that
 * http-proxy-3 derives from the request (a path normalized by `new URL`; joined, forwarded and guessed headers) is
 * sent: path and header lines are replaced before the first byte.
 */

import { type Agent, type ClientRequest, IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { ProxyServer } from 'http-proxy-3'
import type { ClientSide } from './client-side.ts'

/** The limit of a response header section, as for other requests. */
const MAX_HEADER_BYTES = 64 * 1024

export interface UpstreamHandshake {
  /** Exactly the bytes that the router matched. */
  readonly path: string
  /** Name, value, …: all lines, Host included. */
  readonly headers: readonly string[]
}

/** Receives the events before http-proxy-3 reacts to them. */
export interface UpstreamHandshakeListener {
  connected(): void
  /** 101. The callee validates it. */
  switched(response: IncomingMessage, connection: Socket): void
  /** Any other status. */
  responseReceived(response: IncomingMessage): void
  failed(error: Error): void
}

/** Throws if the request cannot be serialized. */
export function dial(
  agent: Agent,
  handshake: UpstreamHandshake,
  client: ClientSide,
  listener: UpstreamHandshakeListener,
): ClientRequest | null {
  let request: ClientRequest | null = null
  const placeholder = new PlaceholderRequest((outgoing) => {
    request = outgoing
    write(outgoing, handshake)
    outgoing.on('socket', () => listener.connected())
    outgoing.on('upgrade', (response, connection) => listener.switched(response, connection as Socket))
    outgoing.on('response', (response) => listener.responseReceived(response))
  })
  const options = {
    // The agent determines the address and TLS.
    target: { protocol: 'http:', host: 'upstream.invalid', port: 80 },
    agent,
    // http-proxy-3 copies these into the options of the request.
    ssl: { maxHeaderSize: MAX_HEADER_BYTES },
  }
  proxy.ws(placeholder, client, Buffer.alloc(0), options, (error) => listener.failed(error))
  // http-proxy-3 references the placeholder for the life of the WebSocket.
  placeholder.onRequest = null
  return request
}

const NOT_CONNECTED = new Socket()

/** Replaces the client's request: http-proxy-3 copies its fields, of which there are none but those of the handshake. */
class PlaceholderRequest extends IncomingMessage {
  override method = 'GET'
  override url = '/'
  override httpVersion = '1.1'
  override httpVersionMajor = 1
  /** Called before anything is sent. */
  onRequest: ((outgoing: ClientRequest) => void) | null

  constructor(onRequest: (outgoing: ClientRequest) => void) {
    super(NOT_CONNECTED)
    this.headers = { connection: 'Upgrade', upgrade: 'websocket' }
    this.onRequest = onRequest
  }
}

const proxy = new ProxyServer({})
// Errors of the client connection, which http-proxy-3 does not have.
proxy.on('error', () => {})
proxy.on('proxyReqWs', (outgoing, request) => {
  try {
    if (request instanceof PlaceholderRequest) request.onRequest?.(outgoing)
  } catch (error) {
    // The request has a connection already, whose end has no other listener.
    outgoing.on('error', () => {}).destroy()
    throw error
  }
})

function write(outgoing: ClientRequest, { path, headers }: UpstreamHandshake): void {
  for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name)
  for (let i = 0; i < headers.length; i += 2) outgoing.appendHeader(headers[i] ?? '', headers[i + 1] ?? '')
  outgoing.path = path
}
