/** `OTEL_BSP_*`: the queue of spans and its batches. */

import type { BatchConfig } from './types.ts'
import type { Variables } from './variables.ts'

/** An hour, in ms. */
const MAX_TIME = 3_600_000
/** Bounds the memory: a span takes at most some 8 KiB, and usually 700 bytes. */
const MAX_QUEUE = 65_536
const SIZE = 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE'

export function bspOf(variables: Variables): BatchConfig {
  const queue = variables.integer('OTEL_BSP_MAX_QUEUE_SIZE', 2048, MAX_QUEUE)
  return {
    queue,
    delay: variables.integer('OTEL_BSP_SCHEDULE_DELAY', 5000, MAX_TIME),
    // The default batch may be more than a small queue holds.
    size:
      variables.get(SIZE) === null
        ? Math.min(512, queue)
        : variables.integer(SIZE, Math.min(512, queue), queue),
    timeout: variables.integer('OTEL_BSP_EXPORT_TIMEOUT', 30_000, MAX_TIME),
  }
}
