/**
 * The handshake with an upstream, by http-proxy-3, which also pipes the two connections together once it has succeeded.
 * Nothing that it makes of the request by itself (the path through `new URL`, headers joined, forwarded and guessed) is
 * sent: path and header lines are put in whole before the first byte is.
 */

import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ProxyServer } from 'http-proxy-3'
import type { ClientSide } from './client-side.ts'

/** Bytes of an answer's header section, as for other requests. */
const MAX_HEADER_BYTES = 64 * 1024

export interface UpstreamHandshake {
  /** The very bytes that were matched. */
  readonly path: string
  /** Name, value, …: all lines, Host included. */
  readonly headers: readonly string[]
}

/** Who is told, before http-proxy-3 does anything about it. */
export interface UpstreamHandshakeListener {
  connected(): void
  /** 101. What is wrong with it, if anything is, has to be found here. */
  switched(answer: IncomingMessage, connection: Socket): void
  /** Any other status. */
  answered(answer: IncomingMessage): void
  failed(error: Error): void
}

/** Throws when there is something in the request that can't be written. */
export function dial(
  agent: Agent,
  handshake: UpstreamHandshake,
  client: ClientSide,
  listener: UpstreamHandshakeListener,
): ClientRequest | null {
  let begun: ClientRequest | null = null
  const placeholder = new PlaceholderRequest((outgoing) => {
    begun = outgoing
    write(outgoing, handshake)
    outgoing.on('socket', () => listener.connected())
    outgoing.on('upgrade', (answer, connection) => listener.switched(answer, connection as Socket))
    outgoing.on('response', (answer) => listener.answered(answer))
  })
  const options = {
    // The agent alone knows where to, and how.
    target: { protocol: 'http:', host: 'upstream.invalid', port: 80 },
    agent,
    // Whatever is here becomes the options of the request.
    ssl: { maxHeaderSize: MAX_HEADER_BYTES },
  }
  const request = placeholder as unknown as IncomingMessage
  proxy.ws(request, client, Buffer.alloc(0), options, (error) => listener.failed(error))
  // http-proxy-3 holds it for as long as the WebSocket is open.
  placeholder.begun = null
  return begun
}

/** In place of the client's request: http-proxy-3 copies what it finds, and is to find nothing. */
class PlaceholderRequest {
  readonly method = 'GET'
  readonly url = '/'
  readonly httpVersion = '1.1'
  readonly httpVersionMajor = 1
  readonly headers = { connection: 'Upgrade', upgrade: 'websocket' }
  /** Called before anything is sent. */
  begun: ((outgoing: ClientRequest) => void) | null

  constructor(begun: (outgoing: ClientRequest) => void) {
    this.begun = begun
  }
}

const proxy = new ProxyServer({})
// Those of the client's connection, as http-proxy-3 sees it: it has none.
proxy.on('error', () => {})
proxy.on('proxyReqWs', (outgoing, request) => {
  try {
    ;(request as unknown as PlaceholderRequest).begun?.(outgoing)
  } catch (error) {
    // It has a connection already, and nobody else would hear of its end.
    outgoing.on('error', () => {}).destroy()
    throw error
  }
})

function write(outgoing: ClientRequest, { path, headers }: UpstreamHandshake): void {
  for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name)
  for (let i = 0; i < headers.length; i += 2) outgoing.appendHeader(headers[i] ?? '', headers[i + 1] ?? '')
  outgoing.path = path
}
