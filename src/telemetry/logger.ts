/**
 * The one log: JSON lines on standard output, written in batches; readable lines on a terminal or with `pretty`.
 * When whoever reads it stalls, traffic goes on: lines beyond the buffer are dropped and counted.
 */

import { fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import pino, { type Logger } from 'pino'
import { FileSink, type Sink, StreamSink } from './log-sinks.ts'
import { readable } from './readable.ts'

export interface Log {
  readonly logger: Logger
  /** One line, its fields as JSON text: `"a":1,"b":"c"`. For what every request logs: it costs a tenth of an object. */
  line(level: 'info' | 'error', message: string, fields: string): void
  /** Whole lines that a process of ours has logged. */
  relay(lines: string): void
  /** Lines dropped so far: the buffer was full, the reader is gone, or the disk is full. */
  dropped(): number
  /** Hands over what is buffered; a file has it when this returns. Never waits for a reader. */
  flush(): void
  /**
   * The end of the log, before the end of the process. Resolves to false when a stalled reader did not take it all:
   * then what is left would keep the process alive.
   */
  close(): Promise<boolean>
}

/** @param options.destination a file; standard output when left out */
export async function openLog(options: {
  pretty: boolean
  level?: string
  destination?: string
}): Promise<Log> {
  const level = options.level ?? 'info'
  const sink = sinkFor(options.destination)
  const rest = {
    dropped: () => sink.dropped(),
    flush: () => sink.flush(),
    close: () => sink.close(),
  }
  if (!options.pretty) {
    const relay = (lines: string) => sink.write(lines)
    const logger = pino({ level, base: null, timestamp, formatters }, sink)
    return { logger, line: lineTo(logger, relay), relay, ...rest }
  }
  // Loaded only where people look on: it would cost every gateway memory.
  const { prettyFactory } = await import('pino-pretty')
  const prettify = prettyFactory({ hideObject: true, messageFormat: readable })
  const write = (line: string) => sink.write(prettify(line))
  const relay = (lines: string) => lines.split(/(?<=\n)/).forEach(write)
  const logger = pino({ level }, { write })
  return { logger, line: lineTo(logger, relay), relay, ...rest }
}

/** As pino would write it. @param message without what JSON escapes */
function lineTo(logger: Logger, write: (line: string) => void): Log['line'] {
  return (level, message, fields) => {
    if (logger.isLevelEnabled(level))
      write(`{"level":"${level}"${timestamp()},${fields},"msg":"${message}"}\n`)
  }
}

function sinkFor(file: string | undefined): Sink {
  if (file !== undefined) return new FileSink(file)
  const stats = fstatSync(1)
  return stats.isFIFO() || stats.isSocket() || isatty(1) ? new StreamSink() : new FileSink(1)
}

let stampedAt = 0
let stamp = ''

/** RFC 3339, UTC; written once a millisecond, as many lines share one. */
function timestamp(): string {
  const now = Date.now()
  if (now !== stampedAt) {
    stampedAt = now
    stamp = `,"time":"${new Date(now).toISOString()}"`
  }
  return stamp
}

const formatters = { level: (label: string) => ({ level: label }) }
