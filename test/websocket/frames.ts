/** Frames for tests (RFC 6455, section 5): serializes valid and invalid frames, and parses them. */

export interface Frame {
  readonly fin: boolean
  readonly opcode: number
  readonly masked: boolean
  readonly payload: Buffer
}

export const TEXT = 0x1
export const BINARY = 0x2
export const CLOSE = 0x8
export const PING = 0x9
export const PONG = 0xa

const MASK = Buffer.from([0x11, 0x22, 0x33, 0x44])

function masked(payload: Buffer): Buffer {
  return Buffer.from(payload.map((byte, at) => byte ^ (MASK[at % 4] ?? 0)))
}

/** The header of a frame of this length. */
export function header(opcode: number, length: number, mask: boolean): Buffer {
  const bit = mask ? 0x80 : 0
  const first = 0x80 | opcode
  if (length < 126) return Buffer.from([first, bit | length])
  const long = Buffer.alloc(length < 0x10000 ? 4 : 10)
  long[0] = first
  long[1] = bit | (length < 0x10000 ? 126 : 127)
  if (length < 0x10000) long.writeUInt16BE(length, 2)
  else long.writeBigUInt64BE(BigInt(length), 2)
  return long
}

/** A frame of a server. */
export function fromServer(opcode: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload as string)
  return Buffer.concat([header(opcode, bytes.length, false), bytes])
}

/** A frame of a client. */
export function fromClient(opcode: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload as string)
  return Buffer.concat([header(opcode, bytes.length, true), MASK, masked(bytes)])
}

export function status(code: number, reason = ''): Buffer {
  const payload = Buffer.alloc(2)
  payload.writeUInt16BE(code)
  return Buffer.concat([payload, Buffer.from(reason)])
}

/** The status code in a Close frame's payload. */
export function codeOf({ payload }: Frame): number | null {
  return payload.length >= 2 ? payload.readUInt16BE() : null
}

/** Collects bytes and returns whole frames. */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0)

  read(chunk: Buffer): Frame[] {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    const frames: Frame[] = []
    for (let frame = this.#one(); frame !== null; frame = this.#one()) frames.push(frame)
    return frames
  }

  /** Bytes of an incomplete frame. */
  get left(): number {
    return this.#bytes.length
  }

  #one(): Frame | null {
    const bytes = this.#bytes
    if (bytes.length < 2) return null
    const short = (bytes[1] ?? 0) & 0x7f
    const at = short === 127 ? 10 : short === 126 ? 4 : 2
    const mask = ((bytes[1] ?? 0) & 0x80) !== 0
    const start = at + (mask ? 4 : 0)
    if (bytes.length < start) return null
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
    if (bytes.length < start + length) return null
    const key = bytes.subarray(at, start)
    const payload = bytes.subarray(start, start + length)
    this.#bytes = bytes.subarray(start + length)
    return {
      fin: ((bytes[0] ?? 0) & 0x80) !== 0,
      opcode: (bytes[0] ?? 0) & 0x0f,
      masked: mask,
      payload: mask ? Buffer.from(payload.map((byte, i) => byte ^ (key[i % 4] ?? 0))) : Buffer.from(payload),
    }
  }
}
