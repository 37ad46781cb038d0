/** Reads log files, plain or compressed by gzip, in constant memory. */

import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { fileFault } from '../../config/file-fault.ts'
import { printable } from '../../telemetry/readable.ts'
import { type Positional, UsageError } from '../arguments.ts'
import { CommandFailed } from '../command.ts'
import { MOST_BYTES } from '../../access/replay/unjudged-reasons.ts'

/** The argument for standard input. */
export const STDIN = '-'

export const LOGS = {
  name: 'LOG',
  description: 'a log of the gateway, plain or compressed with gzip; - is standard input',
  completes: 'file',
  multiple: true,
} as const satisfies Positional

/**
 * Checks that the logs can be read.
 *
 * @returns the bytes of each log; null if they are unknown, as for a pipe
 * @throws UsageError, or CommandFailed if a log is missing or cannot be read
 */
export async function findLogs(logs: readonly string[]): Promise<(number | null)[]> {
  if (logs.filter((each) => each === STDIN).length > 1)
    throw new UsageError('standard input can be read once')
  return Promise.all(logs.map(sizeOf))
}

async function sizeOf(log: string): Promise<number | null> {
  if (log === STDIN) return null
  try {
    const file = await stat(log)
    if (file.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    await access(log, constants.R_OK)
    return file.isFile() ? file.size : null
  } catch (cause) {
    throw new CommandFailed(`${printable(log)} ${fileFault(cause)}`)
  }
}

/** The bytes of one read. */
const CHUNK = 256 * 1024

/**
 * The lines of a log. Rejects if the file cannot be read to its end, after the lines before the fault.
 *
 * @param read gets the bytes of each read; for a compressed file, the compressed bytes
 */
export async function* linesOf(
  log: string,
  read: (bytes: number) => void,
  signal: AbortSignal,
): AsyncGenerator<Lines> {
  const source = log === STDIN ? process.stdin : createReadStream(log, { highWaterMark: CHUNK })
  const stop = () => source.destroy()
  signal.addEventListener('abort', stop)
  try {
    const splitter = new LineSplitter()
    for await (const chunk of decompressed(tapped(source, read))) yield splitter.push(chunk)
    yield splitter.end()
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

async function* tapped(source: Readable, read: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    read(chunk.length)
    yield chunk
  }
}

/** The first bytes tell whether a log is compressed (RFC 1952, section 2.3.1), as its name may be wrong. */
async function* decompressed(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let head: Buffer = Buffer.alloc(0)
  while (head.length < MAGIC.length) {
    const next = await chunks.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  const whole = async function* () {
    yield head
    yield* chunks
  }
  yield* MAGIC.equals(head.subarray(0, MAGIC.length)) ? inflated(whole()) : whole()
}

const MAGIC = Buffer.from([0x1f, 0x8b])

async function* inflated(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK })
  // A fault at either end destroys both, and rejects the loop.
  pipeline(Readable.from(chunks), gunzip, () => {})
  yield* gunzip as AsyncIterable<Buffer>
}

interface Lines {
  readonly lines: readonly string[]
  /** The number of lines over the limit, which are left out. */
  readonly tooLong: number
}

const NONE: Lines = Object.freeze({ lines: Object.freeze([]), tooLong: 0 })
const NEWLINE = 0x0a
const MOST_PARTS = 64
const BYTE_ORDER_MARK = '\ufeff'

/** Splits the bytes of a log into lines, in constant memory. */
export class LineSplitter {
  /** The beginning of a line whose end has not arrived. */
  #rest: Buffer[] = []
  #restBytes = 0
  /** Whether the current line is over the limit. */
  #skips = false
  #isFirst = true
  readonly #most: number

  /** Makes a splitter. @param most the most bytes of a line */
  constructor(most = MOST_BYTES) {
    this.#most = most
  }

  /** The lines that end in a chunk. @param chunk at most as long as the longest line */
  push(chunk: Buffer): Lines {
    const first = chunk.indexOf(NEWLINE)
    if (first < 0) {
      this.#keep(chunk)
      return NONE
    }
    const last = chunk.lastIndexOf(NEWLINE)
    this.#keep(chunk.subarray(0, first))
    const ended = this.#endLine()
    const lines = first === last ? [] : chunk.toString('utf8', first + 1, last).split('\n')
    this.#keep(chunk.subarray(last + 1))
    return ended === null ? { lines, tooLong: 1 } : { lines: [ended, ...lines], tooLong: 0 }
  }

  /** The last line, which may lack its line end. */
  end(): Lines {
    if (this.#restBytes === 0 && !this.#skips) return NONE
    const ended = this.#endLine()
    return ended === null ? { lines: [], tooLong: 1 } : { lines: [ended], tooLong: 0 }
  }

  #keep(part: Buffer): void {
    if (this.#skips || part.length === 0) return
    this.#restBytes += part.length
    this.#rest.push(part)
    // A pipe may bring one byte at a time.
    if (this.#rest.length > MOST_PARTS) this.#rest = [Buffer.concat(this.#rest)]
    if (this.#restBytes <= this.#most) return
    this.#skips = true
    this.#rest = []
  }

  /** The current line; null if it is over the limit. */
  #endLine(): string | null {
    const text = this.#skips ? null : Buffer.concat(this.#rest, this.#restBytes).toString('utf8')
    const isMarked = this.#isFirst && text?.startsWith(BYTE_ORDER_MARK) === true
    this.#rest = []
    this.#restBytes = 0
    this.#skips = false
    this.#isFirst = false
    return isMarked ? (text?.slice(1) ?? null) : text
  }
}
