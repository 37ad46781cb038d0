/** Load at a fixed rate, and the latencies under it. */

import type { Load } from './load.ts'

export interface RatedLoad extends Omit<Load, 'countStatuses'> {
  /** Requests a second. */
  readonly rate: number
}

/** Milliseconds, from when a request was due to the end of its answer. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly most: number
  /** p99 of what the client itself was late in sending: it is part of all the others. */
  readonly late: number
  /** Answered, and of these not with 200. */
  readonly requests: number
  readonly refused: number
  readonly failed: number
  /** Requests a second that were asked for. */
  readonly rate: number
}
