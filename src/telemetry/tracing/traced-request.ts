/** The trace of one request: its own span, and one for each attempt to reach an upstream. */

import { performance } from 'node:perf_hooks'
import type { Exchange } from '../../http/server/exchange.ts'
import type { RequestTrace } from '../../http/server/request-trace.ts'
import { newSpanId } from './ids.ts'
import { clientSpan } from './client-span.ts'
import type { Attempt, RecordedTrace, TraceOrigin } from './recorded-trace.ts'
import { serverSpan } from './server-span.ts'
import type { Span } from './span.ts'

/** Only ids for the upstream and the log: nothing is recorded. */
export class UnsampledRequest implements RequestTrace {
  readonly traceId: string
  readonly propagates: boolean
  readonly continued: boolean

  constructor({ traceId, propagates, parent }: TraceOrigin) {
    this.traceId = traceId
    this.propagates = propagates
    this.continued = parent !== null
  }

  attempt(_target: URL): string | null {
    return this.propagates ? `00-${this.traceId}-${newSpanId()}-00` : null
  }

  responded(_status: number): void {}
  attemptEnded(_error: string | null): void {}
  end(_exchange: Exchange, _at: number): void {}
}

export class SampledRequest implements RequestTrace, RecordedTrace {
  readonly traceId: string
  readonly propagates: boolean
  readonly continued: boolean
  readonly spanId: string = newSpanId()
  readonly origin: TraceOrigin
  readonly attempts: Attempt[] = []
  readonly #record: (span: Span) => void

  /** @param record takes each finished span */
  constructor(origin: TraceOrigin, record: (span: Span) => void) {
    this.traceId = origin.traceId
    this.propagates = origin.propagates
    this.continued = origin.parent !== null
    this.origin = origin
    this.#record = record
  }

  attempt(target: URL): string | null {
    const spanId = newSpanId()
    const startedAt = performance.now()
    this.attempts.push({ spanId, target, startedAt, endedAt: 0, status: 0, error: null })
    return this.propagates ? `00-${this.traceId}-${spanId}-01` : null
  }

  responded(status: number): void {
    const attempt = this.attempts.at(-1)
    if (attempt !== undefined) attempt.status = status
  }

  attemptEnded(error: string | null): void {
    const attempt = this.attempts.at(-1)
    if (attempt === undefined || attempt.endedAt > 0) return
    attempt.endedAt = performance.now()
    attempt.error = error
  }

  end(exchange: Exchange, at: number): void {
    const toEpoch = Date.now() - performance.now()
    this.attempts.forEach((attempt, at) => this.#record(clientSpan(exchange, this, attempt, at, toEpoch)))
    this.#record(serverSpan(exchange, this, at, toEpoch))
  }
}
