/**
 * Bytes of a connection in, answers out: head, body, trailers, however the bytes are cut into pieces. Strict where
 * leniency could make two answers of one. Used by `connection.ts`, one a connection.
 */

import { ProtocolError } from '../hop.ts'
import { CHUNKED, type Head, readFields, readHead, UNTIL_CLOSE } from './head.ts'

/** Who is told. After an exception of the reader, or once it was told to stop, nothing more is. */
export interface AnswerSink {
  /** Interim answers too. */
  head(head: Head): void
  /** @param chunk text: latin1, all of a body that came whole; bytes: the sink's to keep */
  body(chunk: Buffer | string): void
  /** The answer is whole. */
  end(head: Head, trailers: readonly string[]): void
}

/** Bytes of a header section, and of the trailers. */
const MAX_HEAD = 64 * 1024
/** Bytes of a chunk's size and extensions. */
const MAX_SIZE_LINE = 1024
/** A body up to so many bytes that came with its head is handed on as text: it goes out in one piece with the head. */
const MAX_TEXT = 16 * 1024
/** Bytes made into text at a time where a head is looked for. */
const AT_ONCE = MAX_TEXT + 4096

const NO_TRAILERS: readonly string[] = Object.freeze([])

/** A chunk's size (RFC 9112, section 7.1): up to 2^52, so that numbers hold it; extensions are passed over. */
const SIZE_LINE = /^0*([0-9A-Fa-f]{1,13})(?:[\t ]*;[\t -~\x80-\xff]*)?$/

/** A CR or LF that is not one of a pair; one at the end may become it. */
const BARE = /(?:^|[^\r])\n|\r[^\n]/

type State = 'none' | 'head' | 'fixed' | 'until-close' | 'size' | 'chunk' | 'chunk-end' | 'trailers'

export class AnswerReader {
  readonly #sink: AnswerSink
  #state: State = 'none'
  #bodiless = false
  #head: Head | null = null
  /** Bytes of the body, or of a chunk, that are still to come. */
  #left = 0
  /** What came of a head, a size line or the trailers before the rest did. */
  #held = ''

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  /** Ready for the answer to a request. @param bodiless it is HEAD */
  begin(bodiless: boolean): void {
    this.#state = 'head'
    this.#bodiless = bodiless
    this.#head = null
    this.#held = ''
  }

  /** No more is told. */
  stop(): void {
    this.#state = 'none'
  }

  /** The connection has ended, in good order: so has a body that is as long as it lasts. */
  close(): void {
    if (this.#state === 'until-close') this.#whole(0)
  }

  /**
   * Throws a ProtocolError.
   *
   * @param bytes the first `length` of them; the reader keeps none
   * @returns bytes read: fewer when the answer was whole before
   */
  read(bytes: Buffer, length: number): number {
    let at = 0
    while (at < length && this.#state !== 'none') at = this.#step(bytes, at, length)
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
        this.#sink.body(Buffer.from(bytes.subarray(at, to)))
        return to
      case 'size':
        return this.#readSize(bytes, at, to)
      case 'chunk-end':
        return this.#readChunkEnd(bytes, at, to)
      default:
        return this.#readTrailers(bytes, at, to)
    }
  }

  #readHead(bytes: Buffer, at: number, to: number): number {
    const text = bytes.toString('latin1', at, Math.min(to, at + AT_ONCE))
    const before = this.#held.length
    const held = before === 0 ? text : this.#held + text
    const end = held.indexOf('\r\n\r\n', Math.max(0, before - 3))
    if (end < 0) return this.#hold(held, at + text.length, MAX_HEAD)
    if (end > MAX_HEAD) throw new ProtocolError('the head is too long')
    this.#held = ''
    const head = readHead(held.slice(0, end + 2), this.#bodiless)
    const next = at + end + 4 - before
    return this.#begun(head, held, end + 4, next, to)
  }

  /** @param from where the body begins in the text; `at`: in the bytes */
  #begun(head: Head, text: string, from: number, at: number, to: number): number {
    const { status, length } = head
    this.#head = head
    // An interim answer is followed by another one; a switch of protocols by no HTTP at all.
    if (status >= 200) this.#state = stateOf(length)
    else if (status === 101) this.#state = 'until-close'
    this.#left = length
    this.#sink.head(head)
    if (this.#state !== 'fixed') return at
    if (length > MAX_TEXT || length > to - at || length > text.length - from)
      return length === 0 ? this.#whole(at) : at
    if (length > 0) this.#sink.body(text.slice(from, from + length))
    return this.#whole(at + length)
  }

  #readBody(bytes: Buffer, at: number, to: number): number {
    const end = Math.min(to, at + this.#left)
    this.#left -= end - at
    const state = this.#state
    this.#sink.body(Buffer.from(bytes.subarray(at, end)))
    if (this.#left > 0 || this.#state !== state) return end
    if (state === 'fixed') return this.#whole(end)
    this.#state = 'chunk-end'
    return end
  }

  #readSize(bytes: Buffer, at: number, to: number): number {
    const line = this.#line(bytes, at, to, MAX_SIZE_LINE)
    if (line === null) return to
    const size = SIZE_LINE.exec(line.text)?.[1]
    if (size === undefined) throw new ProtocolError('not the size of a chunk')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
    return line.next
  }

  #readChunkEnd(bytes: Buffer, at: number, to: number): number {
    const held = this.#held + bytes.toString('latin1', at, Math.min(to, at + 2 - this.#held.length))
    if (!'\r\n'.startsWith(held)) throw new ProtocolError('a chunk is longer than its size')
    const next = at + held.length - this.#held.length
    this.#held = held.length === 2 ? '' : held
    if (held.length === 2) this.#state = 'size'
    return next
  }

  #readTrailers(bytes: Buffer, at: number, to: number): number {
    const text = bytes.toString('latin1', at, Math.min(to, at + MAX_HEAD))
    // With the line end in front, none at all and some end alike.
    const before = this.#held === '' ? 2 : this.#held.length
    const held = (this.#held === '' ? '\r\n' : this.#held) + text
    const end = held.indexOf('\r\n\r\n', Math.max(0, before - 3))
    if (end < 0) return this.#hold(held, at + text.length, MAX_HEAD)
    if (end > MAX_HEAD) throw new ProtocolError('the trailers are too long')
    this.#held = ''
    const trailers = end === 0 ? NO_TRAILERS : readFields(held.slice(0, end + 2), 2)
    for (let i = 0; i < trailers.length; i += 2)
      if (trailers[i]?.toLowerCase() === 'content-length')
        throw new ProtocolError('a Content-Length among the trailers')
    return this.#whole(at + end + 4 - before, trailers)
  }

  #line(bytes: Buffer, at: number, to: number, max: number): { text: string; next: number } | null {
    const text = bytes.toString('latin1', at, Math.min(to, at + max))
    const before = this.#held.length
    const held = this.#held + text
    const end = held.indexOf('\r\n', Math.max(0, before - 1))
    if (end < 0) {
      this.#hold(held, at, max)
      return null
    }
    this.#held = ''
    return { text: held.slice(0, end), next: at + end + 2 - before }
  }

  #hold(text: string, next: number, max: number): number {
    if (text.length >= max) throw new ProtocolError('longer than anybody needs')
    // What can't become right is refused at once, so that nobody waits for its end.
    if (BARE.test(text)) throw new ProtocolError('a bare CR or LF')
    if (this.#state === 'head' && !'HTTP/1.'.startsWith(text.slice(0, 7)))
      throw new ProtocolError('not a status line of HTTP/1')
    this.#held = text
    return next
  }

  #whole(at: number, trailers: readonly string[] = NO_TRAILERS): number {
    this.#state = 'none'
    if (this.#head !== null) this.#sink.end(this.#head, trailers)
    return at
  }
}

function stateOf(length: number): State {
  if (length === CHUNKED) return 'size'
  return length === UNTIL_CLOSE ? 'until-close' : 'fixed'
}
