/**
 * A strict parser of RESP2 replies: https://redis.io/docs/latest/develop/reference/protocol-spec/. RESP3 is
 * never negotiated (`connect.ts`), so its types are refused.
 */

/** Bytes of one reply. A value has at most {@link MAX_VALUE} characters of up to three bytes each. */
export const MAX_REPLY = 4 * 1024 * 1024
/** Characters of a value or message sent to Redis, so that a reply with it stays within {@link MAX_REPLY}. */
export const MAX_VALUE = 1024 * 1024
/** Bytes of a line: a status, an error, a number or a length. */
const MAX_LINE = 4096
/** Elements of a reply, nested ones too. `CLUSTER SLOTS` of 1,000 masters with two replicas has 20,000. */
const MAX_ELEMENTS = 65_536
/** Nesting of arrays. `CLUSTER SLOTS` has four levels. */
const MAX_DEPTH = 5

const CR = 13
const LF = 10

export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

export type Reply =
  | { readonly type: 'status' | 'error'; readonly text: string }
  | { readonly type: 'integer'; readonly value: number }
  | { readonly type: 'bulk'; readonly bytes: Buffer | null }
  | { readonly type: 'array'; readonly items: readonly Reply[] | null }

const EMPTY = Buffer.alloc(0)
const TYPES = new Set(Buffer.from('+-:$*'))
const NUMBER = /^(?:0|-?[1-9][0-9]{0,17})$/

/** Yields while bytes are missing. */
type Parsing<T> = Generator<undefined, T, undefined>

/** Holds at most twice {@link MAX_REPLY}, and nothing between replies. */
export class ReplyReader {
  /** The first `#length` bytes belong to a reply that is not complete; the others are room for more. */
  #bytes: Buffer = EMPTY
  #length = 0
  /** The position of the next part of the reply. */
  #at = 0
  #elements = 0
  #parsing = this.#reply(0)

  /**
   * @param onReply called with each complete reply and its bytes, which it may retain
   * @throws ProtocolError for invalid RESP2 or an exceeded bound; the reader must not be used after that
   */
  write(chunk: Buffer, onReply: (reply: Reply, bytes: Buffer) => void): void {
    this.#append(chunk)
    for (;;) {
      const { done, value: reply } = this.#parsing.next()
      if (done !== true) return
      onReply(reply, this.#take())
    }
  }

  /** The bytes of the reply that is complete. */
  #take(): Buffer {
    const reply = this.#bytes.subarray(0, this.#at)
    this.#length -= this.#at
    this.#bytes = this.#length === 0 ? EMPTY : this.#bytes.subarray(this.#at)
    this.#at = 0
    this.#elements = 0
    this.#parsing = this.#reply(0)
    return reply
  }

  /** The buffer doubles when it is full, so the cost stays linear for many small chunks. */
  #append(chunk: Buffer): void {
    if (this.#length === 0) {
      this.#bytes = chunk
      this.#length = chunk.length
      return
    }
    const length = this.#length + chunk.length
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(1024, length, Math.min(MAX_REPLY, 2 * length)))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#length)
    this.#length = length
  }

  /** @param depth of arrays around it */
  *#reply(depth: number): Parsing<Reply> {
    const line = yield* this.#line()
    if (++this.#elements > MAX_ELEMENTS) throw new ProtocolError('a reply has too many elements')
    const [type, text] = [line[0], line.slice(1)]
    if (type === '+') return { type: 'status', text }
    if (type === '-') return { type: 'error', text }
    if (!NUMBER.test(text)) throw new ProtocolError('an invalid number')
    const value = Number(text)
    if (type === ':') return { type: 'integer', value }
    if (value < -1) throw new ProtocolError('a length is negative')
    if (type === '$') return { type: 'bulk', bytes: value === -1 ? null : yield* this.#bulk(value) }
    return { type: 'array', items: value === -1 ? null : yield* this.#items(value, depth) }
  }

  /** @returns it without CR LF */
  *#line(): Parsing<string> {
    while (this.#length === this.#at) yield
    if (!TYPES.has(this.#bytes[this.#at] ?? 0)) throw new ProtocolError('an unknown type')
    for (;;) {
      const received = this.#received()
      const end = received.indexOf(LF)
      if ((end === -1 ? received.length : end + 1) > MAX_LINE) throw new ProtocolError('a line is too long')
      if (end !== -1) return this.#endLine(received.subarray(0, end + 1))
      yield
    }
  }

  #endLine(line: Buffer): string {
    if (line.indexOf(CR) !== line.length - 2) throw new ProtocolError('a line does not end with CR LF')
    this.#at += line.length
    if (this.#at > MAX_REPLY) throw new ProtocolError('a reply is too long')
    return line.toString('utf8', 0, line.length - 2)
  }

  *#bulk(length: number): Parsing<Buffer> {
    if (this.#at + length + 2 > MAX_REPLY) throw new ProtocolError('a reply is too long')
    while (this.#received().length < length + 2) yield
    const received = this.#received()
    if (received[length] !== CR || received[length + 1] !== LF)
      throw new ProtocolError('a bulk string does not end with CR LF')
    this.#at += length + 2
    return received.subarray(0, length)
  }

  *#items(length: number, depth: number): Parsing<Reply[]> {
    if (length > 0 && depth === MAX_DEPTH) throw new ProtocolError('arrays are nested too deeply')
    if (length > MAX_ELEMENTS) throw new ProtocolError('a reply has too many elements')
    const items: Reply[] = []
    while (items.length < length) items.push(yield* this.#reply(depth + 1))
    return items
  }

  /** What is not parsed yet. */
  #received(): Buffer {
    return this.#bytes.subarray(this.#at, this.#length)
  }
}
