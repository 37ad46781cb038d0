/** Passes the lines of logs to a reader, which counts or decides them. */

import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'
import { linesOf, STDIN } from './log-files.ts'
import type { Progress } from './progress.ts'

interface LineReader {
  /** Reads a line. The promise rejects if the store cannot be asked. */
  add(line: string): void | Promise<void>
  /** A line that is too long to be read. */
  tooLong?(): void
  /** The number of requests so far. */
  readonly requests: number
}

/** The exit code of a process that SIGINT has ended: 128 and the number of the signal. */
export const INTERRUPTED = 130

/**
 * Reads logs to their ends. `failed` means that a log could not be read to its end, as standard error says;
 * what was read of it and the other logs count. `interrupted` means SIGINT. Rejects if the store cannot be
 * asked.
 */
export async function readAll(
  reader: LineReader,
  logs: readonly string[],
  progress: Progress,
  terminal: Terminal,
): Promise<'done' | 'failed' | 'interrupted'> {
  const interrupted = new AbortController()
  const { signal } = interrupted
  const onInterrupt = () => interrupted.abort()
  process.on('SIGINT', onInterrupt)
  let failed = false
  try {
    for (const log of logs) {
      const fault = await readOne(reader, log, progress, signal)
      if (signal.aborted) return 'interrupted'
      if (fault === null) continue
      failed = true
      progress.end()
      const name = log === STDIN ? 'standard input' : printable(log)
      terminal.printError(`${name} cannot be read to its end (${fault}): what was read counts`)
    }
    return failed ? 'failed' : 'done'
  } finally {
    progress.end()
    process.off('SIGINT', onInterrupt)
  }
}

/** Reads one log. @returns why it could not be read to its end; null if it was */
async function readOne(
  reader: LineReader,
  log: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<string | null> {
  const batches = linesOf(log, progress.read, signal)
  try {
    for (;;) {
      const next = await batches.next().catch(faultOf)
      if (typeof next === 'string') return next
      if (next.done === true || signal.aborted) return null
      const { lines, tooLong } = next.value
      for (let count = 0; count < tooLong; count++) reader.tooLong?.()
      for (const line of lines) {
        const waiting = reader.add(line)
        if (waiting !== undefined) await waiting
      }
      progress.show(reader.requests)
    }
  } finally {
    await batches.return(undefined)
  }
}

function faultOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ${cause.message}` : cause.message
}
