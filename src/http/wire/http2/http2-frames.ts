/** The frame layout of HTTP/2 (RFC 9113, sections 4.1 and 6). */

export const FRAME_HEADER = 9

export const DATA = 0x0
export const HEADERS = 0x1
export const PRIORITY = 0x2
export const RST_STREAM = 0x3
export const SETTINGS = 0x4
export const PUSH_PROMISE = 0x5
export const PING = 0x6
export const GOAWAY = 0x7
export const WINDOW_UPDATE = 0x8
export const CONTINUATION = 0x9

export const ACK = 0x1
export const END_STREAM = 0x1
export const END_HEADERS = 0x4
export const PADDED = 0x8
export const WITH_PRIORITY = 0x20

/** The default, and smallest, limit of a payload in bytes. Seatgate neither announces nor sends more. */
export const MAX_PAYLOAD = 16_384
/** The default send window of a stream and of a connection in bytes. */
export const DEFAULT_WINDOW = 65_535
export const MAX_WINDOW = 2 ** 31 - 1
/** The largest stream id. */
export const MAX_STREAM = 2 ** 31 - 1

/** What a client sends before its first frame (RFC 9113, section 3.4). */
export const PREFACE: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** Writes the nine bytes of a frame header. */
export function writeFrameHeader(
  into: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  stream: number,
): void {
  into[at] = length >>> 16
  into[at + 1] = length >>> 8
  into[at + 2] = length
  into[at + 3] = type
  into[at + 4] = flags
  into.writeUInt32BE(stream, at + 5)
}

/** A whole frame with a payload of 32-bit numbers: RST_STREAM, WINDOW_UPDATE. */
export function numberFrame(type: number, stream: number, number: number): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER + 4)
  writeFrameHeader(frame, 0, 4, type, 0, stream)
  frame.writeUInt32BE(number, FRAME_HEADER)
  return frame
}

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER + payload.length)
  writeFrameHeader(bytes, 0, payload.length, type, flags, stream)
  payload.copy(bytes, FRAME_HEADER)
  return bytes
}
