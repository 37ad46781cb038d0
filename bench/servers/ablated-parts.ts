/** The parts that `bench/ablation.ts` can leave out. */

import { SeatMemory } from '../../src/decision/seats/memory.ts'
import { ProcessActivity } from '../../src/telemetry/process-activity.ts'

export interface Presence {
  /** Whether requests are served with the part now. */
  isWhole: boolean
}

type Part = (presence: Presence) => void

/** Each takes the place of one method, which it calls while the part is there. */
export const PARTS: ReadonlyMap<string, Part> = new Map([
  // What each request leaves for the console: the newest decisions and the uses of routes.
  ['records', leaveOutRecords],
  // Whether a user is blocked, which each decision on a user asks.
  ['blocks', leaveOutBlocks],
])

function leaveOutRecords(presence: Presence): void {
  const { decided } = ProcessActivity.prototype
  ProcessActivity.prototype.decided = function (...args) {
    if (presence.isWhole) decided.apply(this, args)
  }
}

function leaveOutBlocks(presence: Presence): void {
  const { isBlocked } = SeatMemory.prototype
  SeatMemory.prototype.isBlocked = function (...args) {
    return presence.isWhole && isBlocked.apply(this, args)
  }
}
