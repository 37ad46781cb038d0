/**
 * Bytes of a connection in, HTTP/1.1 messages out: head, body, trailers, however the bytes are cut into pieces. Strict
 * where leniency could make two messages of one. The same for requests and answers: what differs is their grammar.
 */

import { equalsIgnoreCase, parseFields, TOKEN } from './fields.ts'

export interface Framed {
  /** Bytes of the body; or {@link CHUNKED}, {@link UNTIL_CLOSE}, {@link INTERIM}. */
  readonly length: number
  /** What the next head on the connection may say again, in whole or in part. Left out: it is not worth being kept. */
  readonly section?: object | undefined
}

export const CHUNKED: number = -1
/** As long as the connection. */
export const UNTIL_CLOSE: number = -2
/** No body, and no end: another head follows. */
export const INTERIM: number = -3

/** Who is told. After an exception of the reader, or once it was told to stop, nothing more is. */
export interface MessageSink<Head extends Framed> {
  head(head: Head): void
  /** @param chunk text: latin1, all of a body that came whole; bytes: the sink's to keep */
  body(chunk: Buffer | string): void
  /** The message is whole. */
  end(trailers: readonly string[]): void
}

/** What kind of messages they are. */
export interface Grammar<Head extends Framed> {
  /**
   * Throws where it is none.
   *
   * @param text from the first line to the end of the last field line, its CRLF included
   * @param bodiless as given to `begin`
   * @param last of the head before on this connection; undefined: there was none, or it is not kept
   */
  readHead(text: string, bodiless: boolean, lastSection: Head['section'] | undefined): Head
  /**
   * What is wrong already with the beginning of a head: so that nobody waits for its end. Null: nothing yet.
   *
   * @param before characters of it that were looked at before, and found to be right
   */
  checkPrefix(text: string, before: number): Error | null
  /** Empty lines before a head are passed over (RFC 9112, section 2.2). */
  readonly skipsEmptyLines: boolean
  /** Names that mean something, or do harm, only where they are no trailers. In lower case. */
  readonly forbiddenTrailers: readonly string[]
  /** Bytes up to which a body that came with its head is handed on as text: it goes out in one piece with the head. */
  readonly maxTextBody: number
  /** The bytes are read into a buffer that others use next: what is kept is copied. */
  readonly sharedBuffer: boolean
  malformed(what: string): Error
  /** @param text of a head: what has come of it */
  tooLong(what: string, text?: string): Error
}

/** Bytes of a chunk's size and extensions. */
const MAX_SIZE_LINE = 1024
/** Characters of extensions that all chunks of a body have together. */
const MAX_EXTENSIONS = 16 * 1024
/** A part of a chunk of fewer bytes is handed on with others that came in the same read: it is not worth its own buffer. */
const SMALL_CHUNK = 1024
/** Bytes made into text at a time where a head is looked for. */
const DECODE_BYTES = 20 * 1024

/** Characters of a read, of which a part may be kept until the next one. */
const MAX_RETAINED = 8 * 1024

const NO_TRAILERS: readonly string[] = Object.freeze([])

/** A chunk's size, with its extensions, which are passed over (RFC 9112, section 7.1). */
const SIZE_LINE = (() => {
  const token = `${TOKEN}+`
  const quoted = '"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"'
  const extension = `[\\t ]*;[\\t ]*${token}(?:[\\t ]*=[\\t ]*(?:${token}|${quoted}))?`
  return new RegExp(`^0*([0-9A-Fa-f]{1,16})(?:${extension})*$`)
})()
/** Hexadecimal digits up to which numbers hold a size. */
const MAX_SAFE_DIGITS = 13

/** A CR or LF that is not one of a pair; one at the end may become it. */
const BARE = /(?:^|[^\r])\n|\r[^\n]/

/** Whether there is one. @param before characters that were found to have none: all but the last of them are passed over */
export function hasBareCrLf(text: string, before: number): boolean {
  const lastSection = before - 1
  return BARE.test(lastSection <= 0 ? text : text.slice(text[lastSection] === '\n' ? before : lastSection))
}

type State = 'none' | 'head' | 'fixed' | 'until-close' | 'size' | 'chunk' | 'chunk-end' | 'trailers'

export class MessageParser<Head extends Framed> {
  /** Bytes of a head section, and of the trailers. */
  readonly #maxHead: number
  readonly #grammar: Grammar<Head>
  readonly #sink: MessageSink<Head>
  #state: State = 'none'
  #bodiless = false
  /** Of the head before. */
  #lastSection: Head['section'] | undefined
  /** Bytes of the body, or of a chunk, that are still to come. */
  #remaining = 0
  #paused = false
  #extensions = 0
  /** Small parts of chunks of this read, one behind the other. */
  #coalesced: Buffer | null = null
  #coalescedBytes = 0
  /** What came of a head, a size line or the trailers before the rest did. */
  #partial = ''

  constructor(grammar: Grammar<Head>, maxHead: number, sink: MessageSink<Head>) {
    this.#grammar = grammar
    this.#maxHead = maxHead
    this.#sink = sink
  }

  /** Ready for a message. @param bodiless whatever its head says, it has no body: the answer to HEAD */
  begin(bodiless = false): void {
    this.#state = 'head'
    this.#bodiless = bodiless
    this.#partial = ''
    this.#extensions = 0
  }

  /** No more is told. */
  stop(): void {
    this.#state = 'none'
    this.#partial = ''
    this.#coalesced = null
    this.#coalescedBytes = 0
  }

  /** Nothing is kept of what was read. */
  forget(): void {
    this.#lastSection = undefined
  }

  /** What is being read goes no further than to here. To be called by the sink. */
  pause(): void {
    this.#paused = true
  }

  /** Nothing of a message has come since `begin`. */
  get atStart(): boolean {
    return this.#state === 'head' && this.#partial === ''
  }

  /** Bytes of a head, a size line or trailers that have come without the rest. */
  get partialBytes(): number {
    return this.#partial.length
  }

  /** The connection has ended, in good order: so has a body that is as long as it lasts. */
  close(): void {
    if (this.#state === 'until-close') this.#finish(0)
  }

  /**
   * Throws what the grammar makes of a fault.
   *
   * @param bytes those from `from` to `to`
   * @returns where it stopped: before `to` when the message was whole before, or the sink wants no more for now
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
    const text = bytes.toString('latin1', at, Math.min(to, at + DECODE_BYTES))
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
    const head = this.#grammar.readHead(partial.slice(start, end + 2), this.#bodiless, this.#lastSection)
    // Whatever is cut out of a text keeps all of it.
    if (partial.length <= MAX_RETAINED || head.section === undefined) this.#lastSection = head.section
    const next = at + end + 4 - before
    return this.#startBody(head, partial, end + 4, next, to)
  }

  /** @param from where the body begins in the text; `at`: in the bytes */
  #startBody(head: Head, text: string, from: number, at: number, to: number): number {
    const { length } = head
    this.#state = stateOf(length)
    this.#remaining = length
    this.#sink.head(head)
    if (this.#state !== 'fixed') return at
    if (length === 0) return this.#finish(at)
    if (length > this.#grammar.maxTextBody || length > to - at || length > text.length - from) return at
    this.#sink.body(text.slice(from, from + length))
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
    const text = bytes.toString('latin1', at, Math.min(to, at + MAX_SIZE_LINE))
    const before = this.#partial.length
    const partial = this.#partial + text
    const end = partial.indexOf('\r\n', Math.max(0, before - 1))
    if (end < 0) return this.#keepPartial(partial, at + text.length, before)
    this.#partial = ''
    const size = SIZE_LINE.exec(partial.slice(0, end))?.[1]
    if (size === undefined) throw this.#grammar.malformed('not the size of a chunk')
    this.#extensions += end - size.length
    if (this.#extensions > MAX_EXTENSIONS) throw this.#grammar.tooLong('size of a chunk')
    if (size.length > MAX_SAFE_DIGITS) throw this.#grammar.tooLong('body')
    this.#remaining = Number.parseInt(size, 16)
    this.#state = this.#remaining === 0 ? 'trailers' : 'chunk'
    return at + end + 2 - before
  }

  #readChunkEnd(bytes: Buffer, at: number, to: number): number {
    const partial = this.#partial + bytes.toString('latin1', at, Math.min(to, at + 2 - this.#partial.length))
    if (!'\r\n'.startsWith(partial)) throw this.#grammar.malformed('a chunk is longer than its size')
    const next = at + partial.length - this.#partial.length
    this.#partial = partial.length === 2 ? '' : partial
    if (partial.length === 2) this.#state = 'size'
    return next
  }

  #readTrailers(bytes: Buffer, at: number, to: number): number {
    const text = bytes.toString('latin1', at, Math.min(to, at + this.#maxHead))
    // With the line end in front, none at all and some end alike.
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
    if (trailers === null) throw this.#grammar.malformed('not a field line')
    for (let i = 0; i < trailers.length; i += 2)
      for (const name of this.#grammar.forbiddenTrailers)
        if (equalsIgnoreCase(trailers[i] ?? '', name))
          throw this.#grammar.malformed(`${name} among the trailers`)
    return trailers
  }

  /** @param before characters of it that were held before */
  #keepPartial(text: string, next: number, before: number): number {
    const [most, what] =
      this.#state === 'size'
        ? ([MAX_SIZE_LINE, 'size of a chunk'] as const)
        : ([this.#maxHead, this.#state === 'head' ? 'head' : 'trailers'] as const)
    const fault =
      this.#state === 'head' ? this.#grammar.checkPrefix(text, before) : this.#bareFault(text, before)
    if (fault !== null) throw fault
    // It may take its time.
    if (this.#state === 'head') this.forget()
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

/** Where the first of the other lines begins. */
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
