/** Event counts over all schedules, as a simulation without faults proves nothing. */

import type { WriteResult } from '../../../src/coherence/instance.ts'
import type { Source } from '../../../src/model/decision.ts'

export type Figures = Record<Source | WriteResult['by'], number> & {
  schedules: number
  events: number
  requests: number
  /** Requests answered with 503. */
  unavailable: number
  /** Acknowledged writes. */
  writes: number
  /** Instances that were removed from the list or left it. */
  removed: number
}

export function zeroFigures(): Figures {
  return {
    schedules: 0,
    events: 0,
    requests: 0,
    memory: 0,
    redis: 0,
    store: 0,
    unavailable: 0,
    writes: 0,
    acknowledged: 0,
    waited: 0,
    removed: 0,
  }
}

export function add(sum: Figures, more: Figures): void {
  for (const key of Object.keys(sum) as (keyof Figures)[]) sum[key] += more[key]
}
