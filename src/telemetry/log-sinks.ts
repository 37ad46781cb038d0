/** The outputs of the log: a stream whose reader may stall, or a file. */

import { closeSync, openSync, writeSync } from 'node:fs'

export interface Sink {
  write(line: string): void
  /** Lines lost: the buffer was full, the reader is gone, or the disk is full. */
  dropped(): number
  /** The code of the operating system's error when the latest write failed; null when it succeeded. */
  failure(): string | null
  /** Writes what is buffered. A file has it when this returns. Never waits for a reader. */
  flush(): void
  /**
   * Called before the process ends. Resolves to false when a stalled reader did not take everything in a
   * bounded time: the rest would keep the process alive.
   */
  close(): Promise<boolean>
}

/** Characters that may wait for a slow reader. */
const MAX_BUFFER = 16 * 1024 * 1024
/** Characters that start a write. */
const BATCH = 32 * 1024
const FLUSH_EVERY = 200
/** Milliseconds that the end waits for a reader. */
const LAST_WAIT = 3000

/**
 * Standard output as a pipe or a socket, with non-blocking writes: on a full pipe, a blocking write would
 * hold the event loop or, from a thread, the end of the process. Or as a terminal, where writes do block:
 * Ctrl-S stops the gateway.
 */
export class StreamSink implements Sink {
  readonly #stream = process.stdout
  readonly #batch = process.stdout.isTTY ? 1 : BATCH
  readonly #timer = setInterval(() => this.flush(), FLUSH_EVERY).unref()
  #waiting = ''
  #waitingLines = 0
  /** Characters waiting and being written. */
  #size = 0
  #writing = false
  #dropped = 0
  #failure: string | null = null
  #onTaken: (() => void) | null = null

  constructor() {
    // A reader that has gone away (EPIPE) must not end the gateway. Each write's callback gets its error.
    this.#stream.on('error', () => {})
    // Lines that are written while the process ends are sent if the pipe has room for them.
    process.once('exit', () => this.flush())
  }

  write(line: string): void {
    if (this.#size + line.length > MAX_BUFFER) {
      this.#dropped++
      return
    }
    this.#size += line.length
    this.#waiting += line
    this.#waitingLines++
    if (this.#waiting.length >= this.#batch) this.flush()
  }

  dropped(): number {
    return this.#dropped
  }

  failure(): string | null {
    return this.#failure
  }

  /** Writes what waits, one write at a time: lines that arrive during a write form the next one. */
  flush(): void {
    if (this.#writing || this.#waiting === '') return
    const batch = this.#waiting
    const lines = this.#waitingLines
    this.#waiting = ''
    this.#waitingLines = 0
    this.#writing = true
    this.#stream.write(batch, (error) => {
      this.#writing = false
      this.#size -= batch.length
      if (error) this.#dropped += lines
      this.#failure = error ? codeOf(error) : null
      if (this.#waiting.length >= this.#batch || this.#onTaken !== null) this.flush()
      if (!this.#writing) this.#onTaken?.()
    })
  }

  async close(): Promise<boolean> {
    clearInterval(this.#timer)
    this.flush()
    if (this.#writing) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LAST_WAIT)
        this.#onTaken = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return !this.#writing
  }
}

/** A file, or a device such as `/dev/null`. Synchronous writes in batches: a file does not stall. */
export class FileSink implements Sink {
  readonly #file: number
  readonly #own: boolean
  readonly #timer = setInterval(() => this.flush(), FLUSH_EVERY).unref()
  #waiting = ''
  #lines = 0
  #dropped = 0
  #failure: string | null = null

  /** @param destination a path, opened to append, or the descriptor of an open file */
  constructor(destination: number | string) {
    this.#own = typeof destination === 'string'
    this.#file = typeof destination === 'string' ? openSync(destination, 'a') : destination
    if (!this.#own) process.once('exit', () => this.flush())
  }

  write(line: string): void {
    this.#waiting += line
    this.#lines++
    if (this.#waiting.length >= BATCH) this.flush()
  }

  dropped(): number {
    return this.#dropped
  }

  failure(): string | null {
    return this.#failure
  }

  flush(): void {
    if (this.#waiting === '') return
    let remaining = Buffer.from(this.#waiting)
    const lines = this.#lines
    this.#waiting = ''
    this.#lines = 0
    try {
      while (remaining.length > 0) remaining = remaining.subarray(writeSync(this.#file, remaining))
      this.#failure = null
    } catch (cause) {
      // A full disk must not end the gateway.
      this.#dropped += lines
      this.#failure = codeOf(cause)
    }
  }

  close(): Promise<boolean> {
    clearInterval(this.#timer)
    this.flush()
    if (this.#own) closeSync(this.#file)
    return Promise.resolve(true)
  }
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
}
