/**
 * The size of V8's young generation. A larger one is collected less often, but a collection stops the event loop for
 * longer where much survives, as when caches fill: 11 to 14 ms at V8's own limit, 4 ms at this one. V8 takes a limit
 * only on the command line, so growth is enabled first and disabled here.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Bytes of both semi-spaces at which growth stops. V8 doubles the size, so the result is below twice this. */
const MAX_SIZE = 8 * 1024 * 1024

/** Enables growth. `seatgate.js` disables it while code is loaded. */
export function growYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
  const observer = new PerformanceObserver(() => {
    if (size() < MAX_SIZE) return
    setFlagsFromString('--semi-space-growth-factor=1')
    observer.disconnect()
  })
  observer.observe({ entryTypes: ['gc'] })
}

function size(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? MAX_SIZE
}
