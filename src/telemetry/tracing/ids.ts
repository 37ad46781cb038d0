/** Random ids of traces and spans, in lower-case hex. */

import { randomFillSync } from 'node:crypto'

const TRACE_BYTES = 16
const SPAN_BYTES = 8
/** Invalid as an id (W3C Trace Context, section 3.2.2). */
const NO_ID = /^0+$/

/** Many at once: a call of the generator takes longer than the few bytes of an id. */
const random = Buffer.alloc(4096)
let used = random.length

export function newTraceId(): string {
  return take(TRACE_BYTES)
}

export function newSpanId(): string {
  return take(SPAN_BYTES)
}

function take(bytes: number): string {
  if (used + bytes > random.length) {
    randomFillSync(random)
    used = 0
  }
  used += bytes
  const id = random.toString('hex', used - bytes, used)
  return NO_ID.test(id) ? take(bytes) : id
}
