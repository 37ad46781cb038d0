/**
 * The one log: JSON lines on standard output, written off the hot path; readable lines on a terminal or with `pretty`.
 * When whoever reads it stalls, traffic goes on: lines beyond the buffer are dropped and counted.
 */

import pino, { type Logger } from 'pino'

export interface Log {
  readonly logger: Logger
  /** Lines dropped so far because the buffer was full. */
  dropped(): number
  /** Writes what is buffered, blocking; before the process ends. */
  flush(): void
}

/** Characters that may wait for a slow reader. */
const MAX_BUFFER = 16 * 1024 * 1024
const FLUSH_EVERY = 200

export async function openLog(options: {
  pretty: boolean
  level?: string
  destination?: number | string
}): Promise<Log> {
  const level = options.level ?? 'info'
  if (options.pretty) {
    // Loaded only where people look on: it would cost every gateway memory.
    const { default: pretty } = await import('pino-pretty')
    const stream = pretty({ sync: true, hideObject: true, messageFormat: readable })
    return { logger: pino({ level }, stream), dropped: () => 0, flush: () => {} }
  }
  const stream = pino.destination({
    dest: options.destination ?? 1,
    sync: false,
    minLength: 4096,
    maxLength: MAX_BUFFER,
  })
  let dropped = 0
  stream.on('drop', () => dropped++)
  // A reader that has gone away (EPIPE) must not take the gateway with it.
  stream.on('error', () => dropped++)
  const timer = setInterval(() => stream.flush(), FLUSH_EVERY)
  timer.unref()
  const logger = pino({ level, base: null, timestamp, formatters }, stream)
  return {
    logger,
    dropped: () => dropped,
    flush: () => {
      try {
        stream.flushSync()
      } catch {
        // The reader is gone or the stream never opened: nothing left to save.
      }
    },
  }
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

/** One line for people: a request in a few words; anything else as its message and what belongs to it. */
function readable(line: Record<string, unknown>, messageKey: string): string {
  const { level: _level, time: _time, pid: _pid, hostname: _hostname, [messageKey]: message, ...rest } = line
  if (message !== 'request') return [message, ...Object.entries(rest).map(field)].join('  ')
  const { method, path, status, code, user, tenant, space, duration_ms: duration, cause } = rest
  const caller =
    user === undefined ? '' : `  ${user} of ${tenant}${space === undefined ? '' : ` in ${space}`}`
  const request = method === undefined ? 'unreadable' : `${method} ${path}`
  return `${status} ${code}  ${request}${caller}  ${duration ?? 0} ms${cause === undefined ? '' : `  (${cause})`}`
}

function field([name, value]: [string, unknown]): string {
  return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
}
