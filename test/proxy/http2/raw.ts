/** An upstream that writes frames of HTTP/2 one by one: valid ones and others. */

import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { serveRaw } from '../support.ts'

const PREFACE = 24
const FRAME_HEADER = 9

export const [DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION] =
  [0, 1, 3, 4, 5, 6, 7, 8, 9] as const
export const [END_STREAM, ACK, END_HEADERS, PADDED] = [1, 1, 4, 8] as const

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const content = Buffer.from(payload)
  const head = Buffer.alloc(FRAME_HEADER)
  head.writeUIntBE(content.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, content])
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** A length with a prefix of seven bits (RFC 7541, section 5.1). */
function length(value: number): number[] {
  if (value < 127) return [value]
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return [...bytes, rest]
}

/** A field block of literals (RFC 7541, section 6.2.2). @param fields name, value, … as latin1 */
export function block(fields: readonly string[]): Buffer {
  const parts: Buffer[] = []
  for (let i = 0; i < fields.length; i += 2) {
    parts.push(Buffer.from([0]))
    for (const text of [fields[i] ?? '', fields[i + 1] ?? ''])
      parts.push(Buffer.from(length(text.length)), Buffer.from(text, 'latin1'))
  }
  return Buffer.concat(parts)
}

export function headers(stream: number, fields: readonly string[], flags = END_HEADERS as number): Buffer {
  return frame(HEADERS, flags | END_HEADERS, stream, block(fields))
}

export function data(stream: number, content: Buffer | string, flags = 0): Buffer {
  return frame(DATA, flags, stream, content)
}

export function goAway(last: number, code = 0): Buffer {
  return frame(GOAWAY, 0, 0, Buffer.concat([number(last), number(code)]))
}

export const EMPTY_SETTINGS: Buffer = frame(SETTINGS, 0, 0)

export class RawConnection {
  readonly socket: Socket
  readonly frames: Frame[] = []
  #bytes = Buffer.alloc(0)
  #preface = false
  readonly #onFrame: (connection: RawConnection, frame: Frame) => void

  constructor(socket: Socket, onFrame: (connection: RawConnection, frame: Frame) => void) {
    this.socket = socket
    this.#onFrame = onFrame
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
  }

  send(...frames: Buffer[]): void {
    if (!this.socket.destroyed) this.socket.write(Buffer.concat(frames))
  }

  count(type: number): number {
    return this.frames.filter((each) => each.type === type).length
  }

  #read(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    if (!this.#preface && this.#bytes.length >= PREFACE) {
      this.#preface = true
      this.#bytes = this.#bytes.subarray(PREFACE)
    }
    while (this.#preface && this.#bytes.length >= FRAME_HEADER) {
      const end = FRAME_HEADER + this.#bytes.readUIntBE(0, 3)
      if (this.#bytes.length < end) return
      const received = {
        type: this.#bytes[3] ?? 0,
        flags: this.#bytes[4] ?? 0,
        stream: this.#bytes.readUInt32BE(5),
        payload: this.#bytes.subarray(FRAME_HEADER, end),
      }
      this.#bytes = this.#bytes.subarray(end)
      this.frames.push(received)
      this.#onFrame(this, received)
    }
  }
}

export interface RawUpstream {
  readonly port: number
  readonly connections: RawConnection[]
}

/**
 * An upstream that sends empty SETTINGS, acknowledges ours, and leaves the rest to the test.
 *
 * @param onRequest called with each HEADERS frame @param settings the first frames
 */
export async function serveFrames(
  t: Test,
  onRequest: (connection: RawConnection, stream: number, frame: Frame) => void,
  settings: Buffer = EMPTY_SETTINGS,
): Promise<RawUpstream> {
  const connections: RawConnection[] = []
  const port = await serveRaw(t, (socket) => {
    const connection = new RawConnection(socket, (self, received) => {
      if (received.type === SETTINGS && (received.flags & ACK) === 0) self.send(frame(SETTINGS, ACK, 0))
      else if (received.type === HEADERS) onRequest(self, received.stream, received)
    })
    connections.push(connection)
    connection.send(settings)
  })
  return { port, connections }
}

/** A whole response. */
export function answer(stream: number, text = 'good'): Buffer {
  return Buffer.concat([headers(stream, [':status', '200']), data(stream, text, END_STREAM)])
}
