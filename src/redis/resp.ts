/**
 * RESP2, the protocol in which Redis answers, read strictly:
 * https://redis.io/docs/latest/develop/reference/protocol-spec/. `ReplyScanner` cuts a stream of bytes into whole
 * replies, `readReply` reads one of these. RESP3 is never negotiated (`connect.ts`), so its types are refused.
 */

/** Bytes of one reply. A value is at most {@link MAX_VALUE} characters, which are up to three bytes each. */
export const MAX_REPLY = 4 * 1024 * 1024
/** Characters of a value or a message that is sent to Redis, so that its answer is within {@link MAX_REPLY}. */
export const MAX_VALUE = 1024 * 1024
/** Bytes of a line: a status, an error, a number or a length. */
const MAX_LINE = 4096
/** Elements of a reply, nested ones included. `CLUSTER SLOTS` of 1,000 masters with two replicas each has 20,000. */
const MAX_ELEMENTS = 65_536
/** Arrays within arrays. `CLUSTER SLOTS` has four. */
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

/** Memory: at most twice {@link MAX_REPLY}, and nothing between two replies. */
export class ReplyScanner {
  /** What has come of a reply that is not whole yet. */
  #held = EMPTY
  #heldLength = 0
  /** The line that is being read, without its CR LF. */
  #line = ''
  /** Bytes of a bulk string that are still to come, CR LF included. */
  #body = 0
  /** Elements that are still to come, of each array that is open. */
  readonly #open: number[] = []
  #elements = 0

  /**
   * @param take called with each whole reply, which it may keep
   * @throws ProtocolError for what is not RESP2, or beyond a bound; nothing may be written after that
   */
  write(chunk: Buffer, take: (frame: Buffer) => void): void {
    let start = 0
    let at = 0
    while (at < chunk.length) {
      const size = this.#heldLength + at - start
      at = this.#body > 0 ? this.#skipBody(chunk, at) : this.#readLine(chunk, at, size)
      if (this.#body > 0 || this.#line !== '' || this.#open.length > 0) continue
      take(this.#frame(chunk.subarray(start, at)))
      start = at
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start))
  }

  #skipBody(chunk: Buffer, at: number): number {
    if (this.#body > 2) {
      const skipped = Math.min(this.#body - 2, chunk.length - at)
      this.#body -= skipped
      return at + skipped
    }
    if (chunk[at] !== (this.#body === 2 ? CR : LF)) throw new ProtocolError('a bulk string ends otherwise')
    if (--this.#body === 0) this.#valueEnds()
    return at + 1
  }

  /** @param size bytes of the reply before `at` */
  #readLine(chunk: Buffer, at: number, size: number): number {
    const found = chunk.indexOf(LF, at)
    const end = found === -1 ? chunk.length : found + 1
    if (this.#line.length + end - at > MAX_LINE) throw new ProtocolError('a line is too long')
    this.#line += chunk.toString('latin1', at, end)
    if (!TYPES.has(this.#line.charCodeAt(0))) throw new ProtocolError('a type that RESP2 does not have')
    if (found === -1) return end
    const [line, rest] = [this.#line.slice(0, -2), this.#line.slice(-2)]
    if (rest !== '\r\n' || line.includes('\r')) throw new ProtocolError('a line ends otherwise')
    this.#line = ''
    this.#lineEnds(line, size + end - at)
    return end
  }

  #lineEnds(line: string, size: number): void {
    if (++this.#elements > MAX_ELEMENTS) throw new ProtocolError('a reply has too many elements')
    const rest = line.slice(1)
    if (line.startsWith('+') || line.startsWith('-')) return this.#valueEnds()
    if (!NUMBER.test(rest)) throw new ProtocolError('a number is none')
    if (line.startsWith(':')) return this.#valueEnds()
    const length = Number(rest)
    if (length < -1) throw new ProtocolError('a length is negative')
    if (line.startsWith('$')) return this.#bulkBegins(length, size)
    this.#arrayBegins(length)
  }

  #bulkBegins(length: number, size: number): void {
    if (length === -1) return this.#valueEnds()
    if (size + length + 2 > MAX_REPLY) throw new ProtocolError('a reply is too long')
    this.#body = length + 2
  }

  #arrayBegins(length: number): void {
    if (length <= 0) return this.#valueEnds()
    if (this.#open.length === MAX_DEPTH) throw new ProtocolError('arrays are nested too deeply')
    if (length > MAX_ELEMENTS) throw new ProtocolError('a reply has too many elements')
    this.#open.push(length)
  }

  /** The last element of an array ends the array, too. */
  #valueEnds(): void {
    while (this.#open.length > 0) {
      const left = (this.#open.pop() ?? 0) - 1
      if (left === 0) continue
      this.#open.push(left)
      return
    }
    this.#elements = 0
  }

  #frame(last: Buffer): Buffer {
    if (this.#heldLength === 0) return last
    this.#hold(last)
    const frame = this.#held.subarray(0, this.#heldLength)
    this.#held = EMPTY
    this.#heldLength = 0
    return frame
  }

  /** Doubled when it is full: many small pieces cost no more than few large ones. */
  #hold(bytes: Buffer): void {
    const length = this.#heldLength + bytes.length
    if (length > MAX_REPLY) throw new ProtocolError('a reply is too long')
    if (length > this.#held.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(MAX_REPLY, Math.max(1024, 2 * length)))
      this.#held.copy(larger, 0, 0, this.#heldLength)
      this.#held = larger
    }
    bytes.copy(this.#held, this.#heldLength)
    this.#heldLength = length
  }
}

const EMPTY = Buffer.alloc(0)
const TYPES = new Set(Buffer.from('+-:$*'))
const NUMBER = /^(?:0|-?[1-9][0-9]{0,17})$/

/** @param frame one that the scanner gave */
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
