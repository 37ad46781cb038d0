/** Begins the traces of requests, and hands their spans to the exporter. Loaded only where tracing is on. */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { SamplerConfig, TracesConfig } from '../../config/open-telemetry.ts'
import type { RequestTrace } from '../../http/server/request-trace.ts'
import type { FieldTable } from '../../http/wire/field-table.ts'
import type { Logger } from '../logger.ts'
import { rateLimited } from '../rate-limited.ts'
import { messageOf, printable } from '../readable.ts'
import { Collector } from './collector.ts'
import { SpanExporter, type SpanCounts } from './exporter.ts'
import { newTraceId } from './ids.ts'
import { batchMessage, type Origin, spanMessage } from './otlp.ts'
import { type Attribute, shortened, type Span } from './span.ts'
import { type TraceParent, traceParentOf, traceStateOf } from './trace-context.ts'
import { SampledRequest, UnsampledRequest } from './traced-request.ts'

/** ms that the end of the process waits for the collector. */
const CLOSE_PATIENCE = 3000
/** Characters of a collector's message in a log line. */
const MAX_MESSAGE = 200

interface TracerPorts {
  readonly logger: Logger
  /** Counted up. */
  readonly counts: SpanCounts
  /** The version of Seatgate. */
  readonly version: string
}

/** The last 14 digits of a trace id: 56 random bits (W3C Trace Context, level 2, "random-trace-id"). */
const DIGITS = 14
const FIRST_DIGIT = 32 - DIGITS
const RANGE = 2 ** 56

export class Tracer {
  readonly #propagates: boolean
  readonly #sampler: Sampler
  readonly #collector: Collector
  readonly #exporter: SpanExporter

  constructor(config: TracesConfig, { logger, counts, version }: TracerPorts) {
    this.#propagates = config.propagates
    this.#sampler = new Sampler(config.sampler)
    this.#collector = new Collector(config)
    const origin = originOf(config, version)
    const lost = rateLimited(logger, 'spans are lost: the collector did not take them')
    const collector = new URL(config.endpoint).origin
    this.#exporter = new SpanExporter(
      config.batches,
      (spans, last, cut) => this.#collector.send(batchMessage(spans, origin), last, cut),
      counts,
      { lost: (spans, cause) => lost({ collector, spans, cause: describe(cause) }) },
    )
  }

  /** The span that a request says is its parent; null if there is none, or propagation is off. */
  parentOf(fields: FieldTable): TraceParent | null {
    return this.#propagates ? traceParentOf(fields) : null
  }

  /**
   * @param trusted the sender is a trusted proxy: its trace continues. Any other's is linked, and decides
   *   nothing
   * @param fields those that named the sender
   */
  begin(sender: TraceParent | null, trusted: boolean, fields: FieldTable): RequestTrace {
    const parent = trusted ? sender : null
    const traceId = parent?.traceId ?? newTraceId()
    const sampled = this.#sampler.samples(traceId, parent?.sampled ?? null)
    const traceState = parent !== null && sampled ? traceStateOf(fields) : ''
    const origin = {
      traceId,
      parent,
      traceState,
      link: trusted ? null : sender,
      propagates: this.#propagates,
    }
    return sampled ? new SampledRequest(origin, this.#record) : new UnsampledRequest(origin)
  }

  readonly #record = (span: Span): void => {
    this.#exporter.add(() => spanMessage(span))
  }

  /** Sends the spans that wait, for a bounded time. */
  async close(): Promise<void> {
    await this.#exporter.close(CLOSE_PATIENCE)
    await this.#collector.close()
  }
}

/** The resource: one process of a service. The attributes of the environment replace these. */
function originOf({ resource }: TracesConfig, version: string): Origin {
  const attributes = new Map<string, string>([
    ['service.name', 'seatgate'],
    ['service.version', version],
    ['service.instance.id', randomUUID()],
    ['host.name', hostname()],
    // Not `opentelemetry`, which names its own SDK (Resource semantic conventions, "Telemetry SDK").
    ['telemetry.sdk.language', 'nodejs'],
    ['telemetry.sdk.name', 'seatgate'],
    ['telemetry.sdk.version', version],
    ...resource,
  ])
  const shortenedOnes = [...attributes].map(([name, value]): Attribute => [name, shortened(value)])
  return { resource: shortenedOnes, scope: 'seatgate', version }
}

function describe(cause: unknown): string {
  return printable(messageOf(cause).slice(0, MAX_MESSAGE))
}

/** Which traces are recorded: by the trace id alone, so that every process decides the same. */
export class Sampler {
  readonly #parentBased: boolean
  /** The last digits from which trace ids are sampled; null if none is. Hex digits compare as numbers. */
  readonly #threshold: string | null

  constructor({ parentBased, ratio }: SamplerConfig) {
    this.#parentBased = parentBased
    this.#threshold = thresholdOf(ratio)
  }

  /**
   * @param parentSampled whether the span that the trace continues is sampled; null if the trace begins here
   */
  samples(traceId: string, parentSampled: boolean | null): boolean {
    if (this.#parentBased && parentSampled !== null) return parentSampled
    return this.#threshold !== null && traceId.slice(FIRST_DIGIT) >= this.#threshold
  }
}

/** The threshold of a ratio; null if the ratio is less than one of all ids. */
function thresholdOf(ratio: number): string | null {
  // The product is exact: a power of two changes the exponent only.
  const sampled = Math.round(ratio * RANGE)
  if (sampled === 0) return null
  const rejected = BigInt(RANGE) - BigInt(sampled)
  return rejected.toString(16).padStart(DIGITS, '0')
}
