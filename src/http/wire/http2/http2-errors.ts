/** Error codes of HTTP/2 (RFC 9113, section 7), and the faults that end a stream or a connection. */

export const NO_ERROR = 0x0
export const PROTOCOL_ERROR = 0x1
export const INTERNAL_ERROR = 0x2
export const FLOW_CONTROL_ERROR = 0x3
export const STREAM_CLOSED = 0x5
export const FRAME_SIZE_ERROR = 0x6
export const REFUSED_STREAM = 0x7
export const CANCEL = 0x8
export const COMPRESSION_ERROR = 0x9
export const ENHANCE_YOUR_CALM = 0xb
export const HTTP_1_1_REQUIRED = 0xd

const NAMES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
]

/** The name of a code; `UNKNOWN` for any other number. */
export function errorName(code: number): string {
  return NAMES[code] ?? 'UNKNOWN'
}

/** A connection error (RFC 9113, section 5.4.1): GOAWAY with the code, then the connection is closed. */
export class Http2Error extends Error {
  readonly code: number

  /** @param message for the log; it holds no byte of the peer */
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** The peer does not accept a field section of this size. Nothing of it was sent. */
export class SectionTooLarge extends Error {
  readonly code = 'SECTION_TOO_LARGE'

  constructor() {
    super('the field section is larger than the peer accepts')
  }
}

/**
 * The fault of a field block that cannot be decoded (RFC 7541). It is a connection error of type
 * COMPRESSION_ERROR (RFC 9113, section 4.3): the state of the decoder is lost. The message holds nothing of
 * the block.
 */
export class HpackError extends Error {}
