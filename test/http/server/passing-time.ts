/** Product timers under held time: it passes while a test waits for what they cause. */

import type { HeldTime } from '../../proxy/held-time.ts'
import { eventually } from '../../proxy/support.ts'

/** Resolves once it holds. Until then time passes, 100 ms in each round. */
export function passingUntil(time: HeldTime, holds: () => boolean): Promise<void> {
  return eventually(() => {
    if (holds()) return true
    time.pass(100)
    return false
  })
}
