/** A client or a server that writes any frames of HTTP/2, valid or not, and reads what comes back. */

import { once } from 'node:events'
import * as net from 'node:net'
import { connect } from 'node:tls'
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  HEADERS,
  MAX_PAYLOAD,
  PING,
  PREFACE,
  RST_STREAM,
  SETTINGS,
} from '../../src/http/wire/http2/http2-frames.ts'
import { FrameReader } from '../../src/http/wire/http2/frame-reader.ts'
import { HpackDecoder } from '../../src/http/wire/http2/hpack-decoder.ts'
import { HpackEncoder } from '../../src/http/wire/http2/hpack-encoder.ts'

export interface ReceivedFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
  /** The fields of a header section. */
  readonly fields?: Readonly<Record<string, string>>
}

/** A field block. */
export function encoded(encoder: HpackEncoder, fields: Fields): Buffer {
  encoder.begin()
  for (const [name, value] of fields) encoder.field(name, value)
  return Buffer.from(encoder.end())
}

/** Whether a frame reports an error, which ends the connection. */
function isError({ type, payload }: ReceivedFrame): boolean {
  return type === GOAWAY && payload.readUInt32BE(4) !== 0
}

export type Fields = readonly (readonly [string, string])[]

export const GET: Fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'a.example'],
  [':path', '/'],
]
export const POST: Fields = [[':method', 'POST'], ...GET.slice(1)]

export class RawHttp2 {
  readonly socket: net.Socket
  readonly received: ReceivedFrame[] = []
  readonly #encoder = new HpackEncoder()
  readonly #decoder = new HpackDecoder()
  #wake: (() => void)[] = []
  ended = false

  static async open(port: number, ca: string, preface = true): Promise<RawHttp2> {
    const socket = connect({ port, host: '127.0.0.1', ca, servername: 'a.example', ALPNProtocols: ['h2'] })
    await once(socket, 'secureConnect')
    const client = new RawHttp2(socket)
    return preface ? client.begin() : client
  }

  /** Connects with prior knowledge, without TLS. */
  static plain(port: number): RawHttp2 {
    return new RawHttp2(net.connect(port, '127.0.0.1')).begin()
  }

  /** Sends the preface. */
  begin(): this {
    return this.send(PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0)))
  }

  /** @param serve called by a server with each frame after the client's preface */
  constructor(socket: net.Socket, serve?: (frame: ReceivedFrame) => void) {
    this.socket = socket
    let parts: Buffer[] = []
    const keep = (each: ReceivedFrame) => {
      const received = each.type === HEADERS ? { ...each, fields: this.#decode(each.payload) } : each
      this.received.push(received)
      serve?.(received)
    }
    const reader = new FrameReader({
      frameStarted: () => {},
      frame: (type, flags, stream, payload) => keep({ type, flags, stream, payload: Buffer.from(payload) }),
      data: (_, chunk) => parts.push(Buffer.from(chunk)),
      dataEnded: (flags, stream) => {
        keep({ type: DATA, flags, stream, payload: Buffer.concat(parts) })
        parts = []
      },
    })
    let preface = serve === undefined ? 0 : PREFACE.length
    socket.on('data', (chunk: Buffer) => {
      reader.read(chunk.subarray(preface))
      preface = Math.max(0, preface - chunk.length)
      this.#notify()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.ended = true
      this.#notify()
    })
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = []
    for (const each of wake) each()
  }

  #decode(block: Buffer): Record<string, string> {
    const fields: Record<string, string> = {}
    this.#decoder.decode(block, { maxBytes: 1e6, maxFields: 1e4 }, (name, value) => {
      fields[name] = value
    })
    return fields
  }

  send(...pieces: Buffer[]): this {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(pieces))
    return this
  }

  /** Sends a frame. */
  frame(type: number, flags: number, stream: number, payload: Buffer | readonly number[] = []): this {
    return this.send(frame(type, flags, stream, Buffer.from(payload)))
  }

  block(fields: Fields): Buffer {
    return encoded(this.#encoder, fields)
  }

  /** Sends HEADERS, with CONTINUATION if the block is long. */
  headers(stream: number, fields: Fields = GET, flags: number = END_STREAM): this {
    const block = this.block(fields)
    for (let at = 0; at === 0 || at < block.length; at += MAX_PAYLOAD) {
      const last = at + MAX_PAYLOAD >= block.length ? END_HEADERS : 0
      this.frame(
        at === 0 ? HEADERS : CONTINUATION,
        (at === 0 ? flags : 0) | last,
        stream,
        block.subarray(at, at + MAX_PAYLOAD),
      )
    }
    return this
  }

  /** Resolves with the first frame from `from` on that fits. Rejects at the end of the connection. */
  async next(fits: (frame: ReceivedFrame) => boolean, from = 0): Promise<ReceivedFrame> {
    for (let at = from; ;) {
      const frame = this.received.slice(at).find(fits)
      if (frame !== undefined) return frame
      at = this.received.length
      if (this.ended) throw new Error('the connection has ended')
      await new Promise<void>((resolve) => this.#wake.push(resolve))
    }
  }

  /** The number of received frames of this type. */
  count(type: number): number {
    return this.received.filter((each) => each.type === type).length
  }

  /** The status of a response. */
  async status(stream: number): Promise<number> {
    const headers = await this.next((each) => each.type === HEADERS && each.stream === stream)
    return Number(headers.fields?.[':status'])
  }

  /** The code of GOAWAY other than 0. */
  async goAway(): Promise<number> {
    return (await this.next(isError)).payload.readUInt32BE(4)
  }

  /** The code of RST_STREAM. */
  async reset(stream: number): Promise<number> {
    const frame = await this.next((each) => each.type === RST_STREAM && each.stream === stream)
    return frame.payload.readUInt32BE(0)
  }

  /** `GOAWAY code`, `RST code` or `status` of the stream: whichever comes first. */
  async outcome(stream: number): Promise<string> {
    const ends = ({ type }: ReceivedFrame) => type === RST_STREAM || type === HEADERS
    const frame = await this.next((each) => isError(each) || (each.stream === stream && ends(each)))
    if (isError(frame)) return `GOAWAY ${frame.payload.readUInt32BE(4)}`
    return frame.fields ? `status ${frame.fields[':status']}` : `RST ${frame.payload.readUInt32BE(0)}`
  }

  /** Resolves when all that was sent is read: a PING is answered. */
  async settled(): Promise<void> {
    const from = this.received.length
    this.frame(PING, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
    await this.next(({ type, flags }) => type === PING && (flags & ACK) !== 0, from)
  }
}
