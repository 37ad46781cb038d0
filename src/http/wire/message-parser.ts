/**
 * Incremental HTTP/1.1 message parser: head, body and trailers from the bytes of a connection, in chunks of
 * any size. It is strict where lenience could turn one message into two. A `Grammar` supplies what differs
 * between requests and responses. `header-section.ts` decides the framing of a request.
 */

import { equalsIgnoreCase, parseFields, TOKEN } from './fields.ts'
import {
  CHUNKED,
  UNTIL_CLOSE,
  INTERIM,
  type Framed,
  type MessageSink,
  type Grammar,
} from './message-grammar.ts'

/** The size of a chunk-size line with its extensions, in bytes. */
const MAX_SIZE_LINE = 1024
/** The total length of all chunk extensions of a body, in characters. */
const MAX_EXTENSIONS = 16 * 1024
/** Smaller parts of chunks from one read are combined: a buffer for each costs more than the copy. */
const SMALL_CHUNK = 1024
/** Bytes that are decoded at first in search of the end of a head. Most heads are shorter. */
const FIRST_DECODE = 4 * 1024
const DECODE_BYTES = 20 * 1024

const NO_TRAILERS: readonly string[] = Object.freeze([])

/** A chunk size with its extensions, which are ignored (RFC 9112, section 7.1). */
const SIZE_LINE = (() => {
  const token = `${TOKEN}+`
  const quoted = '"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"'
  const extension = `[\\t ]*;[\\t ]*${token}(?:[\\t ]*=[\\t ]*(?:${token}|${quoted}))?`
  return new RegExp(`^0*([0-9A-Fa-f]{1,16})(?:${extension})*$`)
})()
/** Hexadecimal digits of a size that a number always holds exactly. */
const MAX_SAFE_DIGITS = 13

const CR = 0x0d
const LF = 0x0a
const ZERO = 0x30
/** The values of hexadecimal digits by byte; -1 for any other byte. */
const HEX_DIGITS = Int8Array.from({ length: 256 }, (_, byte) => {
  const digit = String.fromCharCode(byte)
  return /[0-9A-Fa-f]/.test(digit) ? Number.parseInt(digit, 16) : -1
})

/** A CR or LF outside a CRLF pair. A CR at the end of the text may still become part of a pair. */
const BARE = /(?:^|[^\r])\n|\r[^\n]/

/**
 * Whether the text has a bare CR or LF.
 *
 * @param before the number of characters that were checked before; only the last of them is checked again
 */
export function hasBareCrLf(text: string, before: number): boolean {
  const last = before - 1
  return BARE.test(last <= 0 ? text : text.slice(text[last] === '\n' ? before : last))
}

type State = 'none' | 'head' | 'fixed' | 'until-close' | 'size' | 'chunk' | 'chunk-end' | 'trailers'

export class MessageParser<Head extends Framed> {
  /** The limit for a header section and for trailers, in bytes. */
  readonly #maxHead: number
  readonly #grammar: Grammar<Head>
  readonly #sink: MessageSink<Head>
  #state: State = 'none'
  #bodiless = false
  /** Bytes of the body or of the chunk that are not received yet. */
  #remaining = 0
  #paused = false
  #extensions = 0
  /** Small parts of chunks from this read, one after the other. */
  #coalesced: Buffer | null = null
  #coalescedBytes = 0
  /** The received part of an incomplete head, size line or trailer section. */
  #partial = ''

  constructor(grammar: Grammar<Head>, maxHead: number, sink: MessageSink<Head>) {
    this.#grammar = grammar
    this.#maxHead = maxHead
    this.#sink = sink
  }

  /**
   * Prepares for a message.
   *
   * @param bodiless the message has no body, whatever its head says: a response to HEAD
   */
  begin(bodiless = false): void {
    this.#state = 'head'
    this.#bodiless = bodiless
    this.#partial = ''
    this.#extensions = 0
  }

  /** Ends all calls to the sink. */
  stop(): void {
    this.#state = 'none'
    this.#partial = ''
    this.#coalesced = null
    this.#coalescedBytes = 0
  }

  /** Stops the current read at this position. The sink calls it. */
  pause(): void {
    this.#paused = true
  }

  /** Nothing of a message has been received since `begin`. */
  get atStart(): boolean {
    return this.#state === 'head' && this.#partial === ''
  }

  /** The size of an incomplete head, size line or trailer section, in bytes. */
  get partialBytes(): number {
    return this.#partial.length
  }

  /** The connection has ended properly, which completes a body that its end delimits. */
  close(): void {
    if (this.#state === 'until-close') this.#finish(0)
  }

  /**
   * Parses the bytes from `from` to `to`. Throws the error of the grammar if they are malformed.
   *
   * @returns the position after the last parsed byte: less than `to` if the message is complete or the sink
   *   has paused
   */
  read(bytes: Buffer, from: number, to: number): number {
    let at = from
    this.#paused = false
    while (at < to && this.#state !== 'none' && !this.#paused) at = this.#step(bytes, at, to)
    this.#flushCoalesced()
    return at
  }

  #step(bytes: Buffer, at: number, to: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at, to)
      case 'fixed':
      case 'chunk':
        return this.#readBody(bytes, at, to)
      case 'until-close':
        this.#emitBody(bytes, at, to)
        return to
      case 'size':
        return this.#readSize(bytes, at, to)
      case 'chunk-end':
        return this.#readChunkEnd(bytes, at, to)
      default:
        return this.#readTrailers(bytes, at, to)
    }
  }

  #emitBody(bytes: Buffer, at: number, to: number): void {
    if (this.#state === 'chunk' && to - at < SMALL_CHUNK) return this.#coalesce(bytes, at, to)
    this.#flushCoalesced()
    const part = at === 0 && to === bytes.length ? bytes : bytes.subarray(at, to)
    this.#sink.body(this.#grammar.sharedBuffer ? Buffer.from(part) : part)
  }

  #coalesce(bytes: Buffer, at: number, to: number): void {
    this.#coalesced ??= Buffer.allocUnsafe(bytes.length - at)
    bytes.copy(this.#coalesced, this.#coalescedBytes, at, to)
    this.#coalescedBytes += to - at
  }

  #flushCoalesced(): void {
    const coalesced = this.#coalesced
    if (coalesced === null) return
    const bytes = this.#coalescedBytes
    this.#coalesced = null
    this.#coalescedBytes = 0
    this.#sink.body(coalesced.subarray(0, bytes))
  }

  #readHead(bytes: Buffer, at: number, to: number): number {
    const text = decodeHead(bytes, at, to)
    const before = this.#partial.length
    const partial = before === 0 ? text : this.#partial + text
    const start = this.#grammar.skipsEmptyLines ? emptyLines(partial) : 0
    const end = partial.indexOf('\r\n\r\n', Math.max(start, before - 3))
    if (end < 0)
      return this.#keepPartial(
        start === 0 ? partial : partial.slice(start),
        at + text.length,
        Math.max(0, before - start),
      )
    if (end - start > this.#maxHead) throw this.#grammar.tooLong('head', partial.slice(start))
    this.#partial = ''
    const whole = before === 0
    const source = whole ? { bytes, offset: at } : { bytes: Buffer.from(partial, 'latin1'), offset: 0 }
    const head = this.#grammar.readHead({ text: partial, ...source, start, end: end + 2 }, this.#bodiless)
    const next = at + end + 4 - before
    return this.#startBody(head, { text: partial, from: end + 4 }, bytes, next, to)
  }

  /**
   * @param decoded the text of the head; the body begins at `from`
   * @param at the position of the body in the bytes
   */
  #startBody(head: Head, decoded: DecodedHead, bytes: Buffer, at: number, to: number): number {
    const { length } = head
    this.#state = stateOf(length)
    this.#remaining = length
    this.#sink.head(head)
    if (this.#state !== 'fixed') return at
    if (length === 0) return this.#finish(at)
    if (length > this.#grammar.maxTextBody || length > to - at) return at
    const { text, from } = decoded
    const isDecoded = length <= text.length - from
    this.#sink.body(isDecoded ? text.slice(from, from + length) : bytes.toString('latin1', at, at + length))
    return this.#finish(at + length)
  }

  #readBody(bytes: Buffer, at: number, to: number): number {
    const end = Math.min(to, at + this.#remaining)
    this.#remaining -= end - at
    const state = this.#state
    this.#emitBody(bytes, at, end)
    if (this.#remaining > 0 || this.#state !== state) return end
    if (state === 'fixed') return this.#finish(end)
    this.#state = 'chunk-end'
    return end
  }

  #readSize(bytes: Buffer, at: number, to: number): number {
    const next = this.#readPlainSize(bytes, at, to)
    if (next >= 0) return next
    const text = bytes.toString('latin1', at, Math.min(to, at + MAX_SIZE_LINE))
    const before = this.#partial.length
    const partial = this.#partial + text
    const end = partial.indexOf('\r\n', Math.max(0, before - 1))
    if (end < 0) return this.#keepPartial(partial, at + text.length, before)
    this.#partial = ''
    const size = SIZE_LINE.exec(partial.slice(0, end))?.[1]
    if (size === undefined) throw this.#grammar.malformed('a chunk size is malformed')
    this.#extensions += end - size.length
    if (this.#extensions > MAX_EXTENSIONS) throw this.#grammar.tooLong('chunk size line')
    if (size.length > MAX_SAFE_DIGITS) throw this.#grammar.tooLong('body')
    this.#remaining = Number.parseInt(size, 16)
    this.#state = this.#remaining === 0 ? 'trailers' : 'chunk'
    return at + end + 2 - before
  }

  /**
   * Reads a size without leading zeros and extensions, as in nearly all lines, without decoding it.
   * Otherwise, chunks of one byte take seven times the CPU time.
   *
   * @returns the next position; -1 for any other line
   */
  #readPlainSize(bytes: Buffer, at: number, to: number): number {
    if (this.#partial !== '' || bytes[at] === ZERO) return -1
    const most = Math.min(to, at + MAX_SAFE_DIGITS)
    let size = 0
    let end = at
    for (; end < most; end++) {
      const digit = HEX_DIGITS[bytes[end] ?? 0] ?? -1
      if (digit < 0) break
      size = size * 16 + digit
    }
    if (end === at || !isCrLf(bytes, end, to)) return -1
    this.#remaining = size
    this.#state = 'chunk'
    return end + 2
  }

  #readChunkEnd(bytes: Buffer, at: number, to: number): number {
    if (this.#partial === '' && isCrLf(bytes, at, to)) {
      this.#state = 'size'
      return at + 2
    }
    const partial = this.#partial + bytes.toString('latin1', at, Math.min(to, at + 2 - this.#partial.length))
    if (!'\r\n'.startsWith(partial)) throw this.#grammar.malformed('a chunk is longer than its size')
    const next = at + partial.length - this.#partial.length
    this.#partial = partial.length === 2 ? '' : partial
    if (partial.length === 2) this.#state = 'size'
    return next
  }

  #readTrailers(bytes: Buffer, at: number, to: number): number {
    const text = bytes.toString('latin1', at, Math.min(to, at + this.#maxHead))
    // The CRLF in front makes an empty and a non-empty trailer section end alike.
    const before = this.#partial === '' ? 2 : this.#partial.length
    const partial = (this.#partial === '' ? '\r\n' : this.#partial) + text
    const end = partial.indexOf('\r\n\r\n', Math.max(0, before - 3))
    if (end < 0) return this.#keepPartial(partial, at + text.length, before)
    if (end > this.#maxHead) throw this.#grammar.tooLong('trailers')
    this.#partial = ''
    return this.#finish(
      at + end + 4 - before,
      end === 0 ? NO_TRAILERS : this.#trailersOf(partial.slice(0, end + 2)),
    )
  }

  #trailersOf(text: string): readonly string[] {
    const trailers = parseFields(text, 2)
    if (trailers === null) throw this.#grammar.malformed('a trailer field is malformed')
    for (let i = 0; i < trailers.length; i += 2)
      for (const name of this.#grammar.forbiddenTrailers)
        if (equalsIgnoreCase(trailers[i] ?? '', name))
          throw this.#grammar.malformed(`the trailers contain ${name}`)
    return trailers
  }

  /** @param before the number of characters that were kept before */
  #keepPartial(text: string, next: number, before: number): number {
    const [most, what] =
      this.#state === 'size'
        ? ([MAX_SIZE_LINE, 'chunk size line'] as const)
        : ([this.#maxHead, this.#state === 'head' ? 'head' : 'trailers'] as const)
    const fault =
      this.#state === 'head' ? this.#grammar.checkPrefix(text, before) : this.#bareFault(text, before)
    if (fault !== null) throw fault
    if (text.length >= most) throw this.#grammar.tooLong(what, text)
    this.#partial = text
    return next
  }

  #bareFault(text: string, before: number): Error | null {
    return hasBareCrLf(text, before) ? this.#grammar.malformed('a bare CR or LF') : null
  }

  #finish(at: number, trailers: readonly string[] = NO_TRAILERS): number {
    this.#flushCoalesced()
    this.#state = 'none'
    this.#sink.end(trailers)
    return at
  }
}

interface DecodedHead {
  readonly text: string
  readonly from: number
}

function decodeHead(bytes: Buffer, at: number, to: number): string {
  const text = bytes.toString('latin1', at, Math.min(to, at + FIRST_DECODE))
  if (text.length < FIRST_DECODE || text.includes('\r\n\r\n')) return text
  return bytes.toString('latin1', at, Math.min(to, at + DECODE_BYTES))
}

function isCrLf(bytes: Buffer, at: number, to: number): boolean {
  return at + 1 < to && bytes[at] === CR && bytes[at + 1] === LF
}

/** The position after the empty lines. */
function emptyLines(text: string): number {
  let at = 0
  while (text.startsWith('\r\n', at)) at += 2
  return at
}

function stateOf(length: number): State {
  if (length === CHUNKED) return 'size'
  if (length === INTERIM) return 'head'
  return length === UNTIL_CLOSE ? 'until-close' : 'fixed'
}
