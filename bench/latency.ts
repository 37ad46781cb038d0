/** Load at a fixed rate, and the latencies under it. */

import type { Load } from './load-settings.ts'

export interface RatedLoad extends Omit<Load, 'client' | 'countStatuses'> {
  /** Requests per second. */
  readonly rate: number
}

/** Milliseconds, from when a request was due to the end of its response. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly most: number
  /** p99 of the client's own delay in sending, which is part of all the others. */
  readonly late: number
  /** Responses, and those of them with a status other than 200. */
  readonly requests: number
  readonly refused: number
  readonly failed: number
  /** The intended requests per second. */
  readonly rate: number
}
