/** Reads log files, plain or compressed by gzip, in constant memory. */

import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { fileFault } from '../../config/file-fault.ts'
import { printable } from '../../telemetry/readable.ts'
import { CommandFailed } from '../command.ts'
import { type Lines, LineSplitter } from './line-splitter.ts'

/** Standard input, as an argument. */
export const STDIN = '-'

/**
 * @returns bytes of each; null: unknown, as of a pipe
 * @throws CommandFailed where one is missing, or can't be read
 */
export function findLogs(logs: readonly string[]): Promise<(number | null)[]> {
  return Promise.all(logs.map(sizeOf))
}

async function sizeOf(log: string): Promise<number | null> {
  if (log === STDIN) return null
  try {
    const found = await stat(log)
    if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
    await access(log, constants.R_OK)
    return found.isFile() ? found.size : null
  } catch (cause) {
    throw new CommandFailed(`${printable(log)} ${fileFault(cause)}`)
  }
}

/** Bytes of a read. */
const CHUNK = 256 * 1024

/**
 * Rejects where the file can't be read to its end, with what the lines before have been.
 *
 * @param read is told the bytes of each read, compressed where the file is
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
    for await (const chunk of decompressed(counted(source, read))) yield splitter.push(chunk)
    yield splitter.end()
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

async function* counted(source: Readable, read: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of source as AsyncIterable<Buffer>) {
    read(chunk.length)
    yield chunk
  }
}

/** Whether it is compressed is told by its first bytes (RFC 1952, section 2.3.1), as a name may lie. */
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
  // A fault of either end destroys both, and rejects the loop.
  pipeline(Readable.from(chunks), gunzip, () => {})
  yield* gunzip as AsyncIterable<Buffer>
}
