/** Feeds the lines of logs to a replay. */

import type { Replay } from '../../access/replay/replay.ts'
import { printable } from '../../telemetry/readable.ts'
import type { Terminal } from '../command.ts'
import { linesOf, STDIN } from './log-files.ts'
import type { Lines } from './line-splitter.ts'
import type { Progress } from './progress.ts'

/**
 * `failed`: a log could not be read to its end, as standard error says. The others, and what was read of it, count.
 * `interrupted`: by SIGINT. Rejects when the store can't be asked.
 */
export async function readAll(
  replay: Replay,
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
      const fault = await readOne(replay, log, progress, signal)
      if (signal.aborted) return 'interrupted'
      if (fault === null) continue
      failed = true
      progress.end()
      const name = log === STDIN ? 'standard input' : printable(log)
      terminal.printError(
        `seatgate replay: ${name} can not be read to its end (${fault}): what was read counts`,
      )
    }
    return failed ? 'failed' : 'done'
  } finally {
    progress.end()
    process.off('SIGINT', onInterrupt)
  }
}

/** @returns why the log could not be read to its end; null: it was */
async function readOne(
  replay: Replay,
  log: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<string | null> {
  const batches = linesOf(log, progress.read, signal)
  try {
    for (;;) {
      const next = await batches.next().catch((cause: unknown) => faultOf(cause))
      if (typeof next === 'string') return next
      if (next.done === true || signal.aborted) return null
      await addAll(replay, next.value)
      progress.show(replay.requests)
    }
  } finally {
    await batches.return(undefined)
  }
}

async function addAll(replay: Replay, { lines, tooLong }: Lines): Promise<void> {
  for (let count = 0; count < tooLong; count++) replay.unjudged('line_too_long')
  for (const line of lines) {
    const waiting = replay.add(line)
    if (waiting !== undefined) await waiting
  }
}

function faultOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return 'code' in cause && typeof cause.code === 'string' ? `${cause.code}: ${cause.message}` : cause.message
}
