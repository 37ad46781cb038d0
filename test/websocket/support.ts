/**
 * Both ends of a WebSocket: an upstream on Node's server that records its input and echoes, and a client on a raw
 * socket that can violate the protocol.
 */

import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { listen } from '../support/listen.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { CLOSE, type Frame, FrameReader, fromClient, fromServer, PING, PONG, TEXT } from './frames.ts'

export const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
}

/** An end of a WebSocket, and the frames that it has received. */
class WebSocketEnd extends RawClient {
  readonly frames: Frame[] = []
  readonly reader = new FrameReader()

  /** @returns the frames that these bytes complete */
  take(bytes: Buffer): Frame[] {
    const whole = this.reader.read(bytes)
    this.frames.push(...whole)
    return whole
  }

  get closed(): boolean {
    return this.socket.closed
  }

  get texts(): string[] {
    return this.frames.filter(({ opcode }) => opcode === TEXT).map(({ payload }) => payload.toString())
  }

  get closeFrame(): Frame | undefined {
    return this.frames.find(({ opcode }) => opcode === CLOSE)
  }
}

function echo(socket: Socket, { opcode, payload }: Frame): void {
  if (opcode === PONG || !socket.writable) return
  socket.write(fromServer(opcode === PING ? PONG : opcode, payload))
  if (opcode === CLOSE) socket.end()
}

export interface UpstreamBehaviour {
  /** Lines of the 101 besides the usual three. */
  readonly lines?: readonly string[]
  /** Replaces the whole response. */
  readonly answer?: (request: IncomingMessage, socket: Socket) => void
  /** Handles ordinary requests; default: `plain`. */
  readonly serve?: RequestListener
  /** Served over HTTPS. */
  readonly tls?: ServerOptions
  /** Frames are not echoed. */
  readonly silent?: boolean
}

export async function startWebSocketUpstream(t: Test, behaviour: UpstreamBehaviour = {}) {
  /** Ordinary requests that it received. */
  const requests: IncomingMessage[] = []
  const sockets: (WebSocketEnd & { readonly request: IncomingMessage })[] = []
  const { tls, serve } = behaviour
  const listener: RequestListener = (request, response) => {
    requests.push(request)
    if (serve !== undefined) serve(request, response)
    else response.end('plain')
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  server.on('upgrade', (request, stream, head) => {
    const socket = stream as Socket
    const { lines = [], answer, silent = false } = behaviour
    if (answer !== undefined) return answer(request, socket)
    socket.write(switching(request.headers['sec-websocket-key'] ?? '', lines))
    if (head.length > 0) socket.unshift(head)
    const end = Object.assign(new WebSocketEnd(socket), { request })
    socket.on('data', (chunk: Buffer) => {
      for (const frame of end.take(chunk)) if (!silent) echo(socket, frame)
    })
    if (!silent) socket.on('end', () => socket.end())
    sockets.push(end)
  })
  const scheme = tls === undefined ? 'http' : 'https'
  return { url: `${scheme}://127.0.0.1:${await listen(t, server)}`, requests, sockets }
}

/** The 101 of a valid server. */
export function switching(key: string, lines: readonly string[] = []): string {
  const usual = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${acceptOf(key)}`]
  return ['HTTP/1.1 101 Switching Protocols', ...usual, ...lines, '', ''].join('\r\n')
}

/** The lines of a handshake. */
export function handshake(path: string, lines: readonly string[] = []): string {
  const usual = ['Host: gw.example', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  return [`GET ${path} HTTP/1.1`, ...usual, `Sec-WebSocket-Key: ${KEY}`, ...lines, '', ''].join('\r\n')
}

const SWITCHED = /^HTTP\/1\.1 101 [^]*?\r\n\r\n/

/** Bytes are HTTP until a 101, and frames after it. */
export class WebSocketClient extends WebSocketEnd {
  /** Received bytes that are read already. */
  #read = 0

  constructor(port: number) {
    super(port)
    this.socket.on('data', () => this.#readFrames())
  }

  #readFrames(): void {
    if (!this.open) return
    const from = Math.max(this.#read, this.http.length)
    this.#read = this.received.length
    this.take(Buffer.from(this.received.slice(from), 'latin1'))
  }

  /** All that is received, but no frames. */
  get http(): string {
    return this.open ? this.received.slice(0, this.received.indexOf('\r\n\r\n') + 4) : this.received
  }

  /** The header section of a 101 has arrived. */
  get open(): boolean {
    return SWITCHED.test(this.received)
  }

  get status(): number {
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(this.http)?.[1] ?? 0)
  }

  get code(): string | undefined {
    return /"code":"(\w+)"/.exec(this.http)?.[1]
  }

  sendText(text: string): this {
    return this.send(fromClient(TEXT, text))
  }

  /** Resolves when the response to the handshake is a 101. */
  async opened(): Promise<this> {
    await this.until(SWITCHED)
    return this
  }

  /** Resolves when the connection is closed. */
  async gone(): Promise<this> {
    await until(() => this.closed, 'the end of the connection')
    return this
  }

  async receives(text: string): Promise<this> {
    await until(() => this.texts.includes(text) || this.closed, `"${text}"`)
    if (!this.texts.includes(text)) throw new Error(`closed without "${text}"`)
    return this
  }
}

/** Sends a handshake on a connection of its own. */
export function sendHandshake(port: number, path: string, lines: readonly string[] = []): WebSocketClient {
  return new WebSocketClient(port).send(handshake(path, lines))
}
