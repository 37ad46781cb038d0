/**
 * A strict parser of RESP2 replies: https://redis.io/docs/latest/develop/reference/protocol-spec/. `ReplyScanner` splits
 * a byte stream into complete replies, `readReply` parses one. RESP3 is never negotiated (`connect.ts`), so its types
 * are refused.
 */

/** Bytes of one reply. A value has at most {@link MAX_VALUE} characters of up to three bytes each. */
export const MAX_REPLY = 4 * 1024 * 1024
/** Characters of a value or message sent to Redis, so that a reply with it stays within {@link MAX_REPLY}. */
export const MAX_VALUE = 1024 * 1024
/** Bytes of a line: a status, an error, a number or a length. */
const MAX_LINE = 4096
/** Elements of a reply, nested ones included. `CLUSTER SLOTS` of 1,000 masters with two replicas each has 20,000. */
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

/** Holds at most twice {@link MAX_REPLY}, and nothing between replies. */
export class ReplyScanner {
  /** Bytes of an incomplete reply. */
  #partial = EMPTY
  #partialLength = 0
  /** The incomplete line. */
  #line = ''
  /** Remaining bytes of a bulk string, CR LF included. */
  #bulkRemaining = 0
  /** Remaining elements of each open array, outermost first. */
  readonly #arrays: number[] = []
  #elements = 0

  /**
   * @param onReply called with each complete reply, which it may retain
   * @throws ProtocolError for invalid RESP2 or an exceeded bound; the scanner must not be used after that
   */
  write(chunk: Buffer, onReply: (frame: Buffer) => void): void {
    let start = 0
    let at = 0
    while (at < chunk.length) {
      const size = this.#partialLength + at - start
      at = this.#bulkRemaining > 0 ? this.#skipBulk(chunk, at) : this.#readLine(chunk, at, size)
      if (this.#bulkRemaining > 0 || this.#line !== '' || this.#arrays.length > 0) continue
      onReply(this.#frame(chunk.subarray(start, at)))
      start = at
    }
    if (start < chunk.length) this.#append(chunk.subarray(start))
  }

  #skipBulk(chunk: Buffer, at: number): number {
    if (this.#bulkRemaining > 2) {
      const skipped = Math.min(this.#bulkRemaining - 2, chunk.length - at)
      this.#bulkRemaining -= skipped
      return at + skipped
    }
    if (chunk[at] !== (this.#bulkRemaining === 2 ? CR : LF))
      throw new ProtocolError('a bulk string does not end with CR LF')
    if (--this.#bulkRemaining === 0) this.#endValue()
    return at + 1
  }

  /** @param size bytes of the reply before `at` */
  #readLine(chunk: Buffer, at: number, size: number): number {
    const found = chunk.indexOf(LF, at)
    const end = found === -1 ? chunk.length : found + 1
    if (this.#line.length + end - at > MAX_LINE) throw new ProtocolError('a line is too long')
    this.#line += chunk.toString('latin1', at, end)
    if (!TYPES.has(this.#line.charCodeAt(0))) throw new ProtocolError('an unknown type')
    if (found === -1) return end
    const [line, ending] = [this.#line.slice(0, -2), this.#line.slice(-2)]
    if (ending !== '\r\n' || line.includes('\r')) throw new ProtocolError('a line does not end with CR LF')
    this.#line = ''
    this.#endLine(line, size + end - at)
    return end
  }

  #endLine(line: string, size: number): void {
    if (++this.#elements > MAX_ELEMENTS) throw new ProtocolError('a reply has too many elements')
    const rest = line.slice(1)
    if (line.startsWith('+') || line.startsWith('-')) return this.#endValue()
    if (!NUMBER.test(rest)) throw new ProtocolError('an invalid number')
    if (line.startsWith(':')) return this.#endValue()
    const length = Number(rest)
    if (length < -1) throw new ProtocolError('a length is negative')
    if (line.startsWith('$')) return this.#beginBulk(length, size)
    this.#beginArray(length)
  }

  #beginBulk(length: number, size: number): void {
    if (length === -1) return this.#endValue()
    if (size + length + 2 > MAX_REPLY) throw new ProtocolError('a reply is too long')
    this.#bulkRemaining = length + 2
  }

  #beginArray(length: number): void {
    if (length <= 0) return this.#endValue()
    if (this.#arrays.length === MAX_DEPTH) throw new ProtocolError('arrays are nested too deeply')
    if (length > MAX_ELEMENTS) throw new ProtocolError('a reply has too many elements')
    this.#arrays.push(length)
  }

  /** The last element of an array also completes the array. */
  #endValue(): void {
    while (this.#arrays.length > 0) {
      const remaining = (this.#arrays.pop() ?? 0) - 1
      if (remaining === 0) continue
      this.#arrays.push(remaining)
      return
    }
    this.#elements = 0
  }

  #frame(last: Buffer): Buffer {
    if (this.#partialLength === 0) return last
    this.#append(last)
    const frame = this.#partial.subarray(0, this.#partialLength)
    this.#partial = EMPTY
    this.#partialLength = 0
    return frame
  }

  /** The buffer doubles when it is full, so the cost stays linear for many small chunks. */
  #append(bytes: Buffer): void {
    const length = this.#partialLength + bytes.length
    if (length > MAX_REPLY) throw new ProtocolError('a reply is too long')
    if (length > this.#partial.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(MAX_REPLY, Math.max(1024, 2 * length)))
      this.#partial.copy(larger, 0, 0, this.#partialLength)
      this.#partial = larger
    }
    bytes.copy(this.#partial, this.#partialLength)
    this.#partialLength = length
  }
}

const EMPTY = Buffer.alloc(0)
const TYPES = new Set(Buffer.from('+-:$*'))
const NUMBER = /^(?:0|-?[1-9][0-9]{0,17})$/

/** @param frame a complete reply from the scanner */
export function readReply(frame: Buffer): Reply {
  return read(frame, { at: 0 })
}

function read(frame: Buffer, cursor: { at: number }): Reply {
  const end = frame.indexOf(LF, cursor.at)
  const type = frame[cursor.at]
  const rest = frame.toString('utf8', cursor.at + 1, end - 1)
  cursor.at = end + 1
  if (type === STATUS) return { type: 'status', text: rest }
  if (type === ERROR) return { type: 'error', text: rest }
  if (type === INTEGER) return { type: 'integer', value: Number(rest) }
  if (type === BULK) return { type: 'bulk', bytes: readBulk(frame, cursor, Number(rest)) }
  if (rest === '-1') return { type: 'array', items: null }
  return { type: 'array', items: Array.from({ length: Number(rest) }, () => read(frame, cursor)) }
}

const [STATUS, ERROR, INTEGER, BULK] = Buffer.from('+-:$')

function readBulk(frame: Buffer, cursor: { at: number }, length: number): Buffer | null {
  if (length === -1) return null
  const bytes = frame.subarray(cursor.at, cursor.at + length)
  cursor.at += length + 2
  return bytes
}
