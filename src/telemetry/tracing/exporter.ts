/**
 * The queue between requests and the collector. It never waits: a collector that is slow or away costs spans,
 * which are counted, and neither requests nor memory.
 */

import type { BatchConfig } from '../../config/open-telemetry.ts'
import type { PartialSuccess } from './otlp.ts'

/** Spans by what became of them; failed: the collector did not take them. */
export interface SpanCounts {
  exported: number
  dropped: number
  failed: number
}

/** Sends a batch, and rejects if it is lost. The signals have the meaning of `Collector.send`. */
type SendBatch = (
  spans: readonly Uint8Array[],
  last: AbortSignal,
  cut: AbortSignal,
) => Promise<PartialSuccess>

interface ExporterEvents {
  /** @param cause of the loss: an error, or the collector's message */
  lost(spans: number, cause: unknown): void
}

export class SpanExporter {
  readonly #settings: BatchConfig
  readonly #send: SendBatch
  readonly #counts: SpanCounts
  readonly #events: ExporterEvents
  readonly #last = new AbortController()
  readonly #cut = new AbortController()
  #queue: Uint8Array[] = []
  #sending = 0
  #running: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(settings: BatchConfig, send: SendBatch, counts: SpanCounts, events: ExporterEvents) {
    this.#settings = settings
    this.#send = send
    this.#counts = counts
    this.#events = events
  }

  /** @param encode makes the bytes of the span, unless it is dropped */
  add(encode: () => Uint8Array): void {
    const { queue, size, delay } = this.#settings
    if (this.#queue.length + this.#sending >= queue || this.#last.signal.aborted) {
      this.#counts.dropped++
      return
    }
    const waiting = this.#queue.push(encode())
    if (waiting >= size) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), delay).unref()
  }

  /** Sends what waits, for at most `patience` ms: one attempt a batch. The rest counts as failed. */
  async close(patience: number): Promise<void> {
    this.#last.abort()
    const timer = setTimeout(() => this.#cut.abort(), patience)
    this.#start()
    await this.#running
    clearTimeout(timer)
  }

  /** One batch at a time. */
  #start(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#running ??= this.#run().finally(() => {
      this.#running = null
      if (this.#queue.length > 0) this.#timer = setTimeout(() => this.#start(), this.#settings.delay).unref()
    })
  }

  async #run(): Promise<void> {
    const { size } = this.#settings
    // The rest of a batch waits for more, but not at the end.
    do await this.#sendBatch(this.#queue.splice(0, size))
    while (this.#queue.length >= size || (this.#last.signal.aborted && this.#queue.length > 0))
  }

  async #sendBatch(spans: readonly Uint8Array[]): Promise<void> {
    if (spans.length === 0) return
    this.#sending = spans.length
    try {
      const { rejected, message } = await this.#send(spans, this.#last.signal, this.#cut.signal)
      this.#taken(spans.length, Math.min(Math.max(0, Math.trunc(rejected) || 0), spans.length), message)
    } catch (cause) {
      this.#counts.failed += spans.length
      this.#events.lost(spans.length, cause)
    } finally {
      this.#sending = 0
    }
  }

  #taken(spans: number, rejected: number, message: string): void {
    this.#counts.exported += spans - rejected
    this.#counts.failed += rejected
    if (rejected > 0) this.#events.lost(rejected, message)
  }
}
