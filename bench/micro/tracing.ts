/**
 * What tracing adds to a request: ids and a header if it is not sampled, two spans and their bytes if it is.
 */

import type { Exchange } from '../../src/http/server/exchange.ts'
import { newTraceId } from '../../src/telemetry/tracing/ids.ts'
import { spanMessage } from '../../src/telemetry/tracing/otlp.ts'
import { Sampler } from '../../src/telemetry/tracing/tracer.ts'
import { traceParentOf } from '../../src/telemetry/tracing/trace-context.ts'
import { SampledRequest, UnsampledRequest } from '../../src/telemetry/tracing/traced-request.ts'
import { repeated, type Timed } from './timing.ts'

const TARGET = new URL('http://127.0.0.1:9000')

export function tracingStages(exchange: Exchange): Timed[] {
  const sampler = new Sampler({ parentBased: true, ratio: 0.5 })
  const begin = () => {
    const parent = traceParentOf(exchange.request.section.fields)
    const traceId = newTraceId()
    sampler.samples(traceId, null)
    return { traceId, parent, link: null, traceState: '', propagates: true }
  }
  return [
    repeated('tracing: not sampled', () => {
      const trace = new UnsampledRequest(begin())
      trace.attempt(TARGET)
      trace.end(exchange, exchange.endedAt)
    }),
    repeated('tracing: sampled, two spans encoded', () => {
      const trace = new SampledRequest(begin(), spanMessage)
      trace.attempt(TARGET)
      trace.responded(200)
      trace.attemptEnded(null)
      trace.end(exchange, exchange.endedAt)
    }),
  ]
}
