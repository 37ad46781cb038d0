/**
 * The log: JSON lines on standard output, written in batches; readable lines on a terminal or with `pretty`.
 * A stalled reader does not stop traffic: lines beyond the buffer are dropped and counted.
 */

import { fstatSync } from 'node:fs'
import { isatty } from 'node:tty'
import pino, { type Logger } from 'pino'
import { FileSink, type Sink, StreamSink } from './log-sinks.ts'
import { messageOf, readable } from './readable.ts'

export type { Logger }

export interface Log extends Pick<Sink, 'dropped' | 'failure' | 'flush' | 'close'> {
  readonly logger: Logger
  /**
   * One line with its fields as JSON text: `"a":1,"b":"c"`. For lines of every request: a tenth of the cost
   * of an object.
   */
  line(level: 'info' | 'error', message: string, fields: string): void
  /** Whole lines of a worker's log. */
  relay(lines: string): void
}

/** @param options.destination a file; standard output when left out */
export async function openLog(options: { pretty: boolean; destination?: string }): Promise<Log> {
  const sink = sinkFor(options.destination)
  const rest = {
    dropped: () => sink.dropped(),
    failure: () => sink.failure(),
    flush: () => sink.flush(),
    close: () => sink.close(),
  }
  if (!options.pretty) {
    const relay = (lines: string) => sink.write(lines)
    const logger = pino({ base: null, timestamp, formatters }, sink)
    return { logger, line: lineTo(relay), relay, ...rest }
  }
  // Loaded on demand, as it takes memory.
  const { prettyFactory } = await import('pino-pretty')
  const prettify = prettyFactory({ hideObject: true, messageFormat: readable })
  const write = (line: string) => sink.write(prettify(line))
  const relay = (lines: string) => lines.split(/(?<=\n)/).forEach(write)
  return { logger: pino({}, { write }), line: lineTo(relay), relay, ...rest }
}

/**
 * The format of pino.
 *
 * @param message needs no JSON escapes
 */
function lineTo(write: (line: string) => void): Log['line'] {
  return (level, message, fields) =>
    write(`{"level":"${level}"${timestamp()},${fields},"msg":"${message}"}\n`)
}

function sinkFor(file: string | undefined): Sink {
  if (file !== undefined) return new FileSink(file)
  const stats = fstatSync(1)
  return stats.isFIFO() || stats.isSocket() || isatty(1) ? new StreamSink() : new FileSink(1)
}

let stampedAt = 0
let stamp = ''

/** RFC 3339, UTC; formatted once a millisecond, as many lines share one. */
function timestamp(): string {
  const now = Date.now()
  if (now !== stampedAt) {
    stampedAt = now
    stamp = `,"time":"${new Date(now).toISOString()}"`
  }
  return stamp
}

const formatters = { level: (label: string) => ({ level: label }) }

/**
 * Logs unhandled rejections: faults of the gateway or a library. The process continues, as each request
 * concerned has failed closed by itself.
 */
export function logUnhandledRejections(logger: Logger): void {
  process.on('unhandledRejection', (cause) => {
    logger.error({ cause: messageOf(cause) }, 'unhandled rejection: please report it')
  })
}
