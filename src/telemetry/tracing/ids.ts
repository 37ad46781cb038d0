/** Random ids of traces and spans, in lower-case hex. */

import { randomFillSync } from 'node:crypto'
import { INVALID_SPANID, INVALID_TRACEID } from '@opentelemetry/api'

const TRACE_BYTES = 16
const SPAN_BYTES = 8

/** Many at once: a call of the generator takes longer than the few bytes of an id. */
const random = Buffer.alloc(4096)
let used = random.length

export function newTraceId(): string {
  const id = take(TRACE_BYTES)
  return id === INVALID_TRACEID ? newTraceId() : id
}

export function newSpanId(): string {
  const id = take(SPAN_BYTES)
  return id === INVALID_SPANID ? newSpanId() : id
}

function take(bytes: number): string {
  if (used + bytes > random.length) {
    randomFillSync(random)
    used = 0
  }
  used += bytes
  return random.toString('hex', used - bytes, used)
}
