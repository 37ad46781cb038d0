/** Schedules of their own for variants that random ones show less than once in 100,000. */

import { NO_FAULTS } from './context.ts'
import { ENOUGH, type Schedule } from './schedule.ts'

/**
 * A worker begins while a change is being announced: the reading in flight is older than the change, and Redis has the
 * value from before it.
 */
function workerJoins(seed: number): Schedule {
  const end = 412
  return {
    seed,
    gateways: [1, 0],
    conditions: { ...NO_FAULTS, usual: 20, slow: 0.1, slowest: 300 },
    actions: [
      { at: 77, kind: 'apply', target: 18, deletes: 2, swaps: false },
      { at: 165, kind: 'ask', target: 34 },
      { at: end, kind: 'kill a worker', target: 19 },
      { at: end + (seed % 30), kind: 'write', target: 48, record: 0, deletes: false, further: 0 },
    ],
    end: 1200,
    hasRedis: true,
    kept: 10_000,
    memory: ENOUGH,
    hasManyBlocks: true,
    checksRecovery: false,
    issuersAhead: 0,
    tablesInStore: false,
    refusing: null,
  }
}

/** The schedules of a variant, by seed. */
export const RARE: Readonly<Record<string, (seed: number) => Schedule>> = {
  'a worker has a lease from before it joined': workerJoins,
}
