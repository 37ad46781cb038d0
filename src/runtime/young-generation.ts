/**
 * The size of V8's young generation. A larger one is collected less often, but each collection stops the event loop for
 * longer where much survives, as when caches fill: 11 to 14 ms at V8's own limit, 4 ms at this one. V8 takes a limit
 * from the command line alone, so growth is allowed at first and ended here.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Bytes of both halves together, from which it grows no more. V8 doubles it at a time: it ends at less than twice this. */
const ENOUGH = 8 * 1024 * 1024

/** Lets it grow. `seatgate.js` keeps it small while code is read. */
export function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
  const observer = new PerformanceObserver(() => {
    if (size() < ENOUGH) return
    setFlagsFromString('--semi-space-growth-factor=1')
    observer.disconnect()
  })
  observer.observe({ entryTypes: ['gc'] })
}

function size(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? ENOUGH
}
