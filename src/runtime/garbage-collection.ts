/**
 * How V8 collects garbage in a process that answers requests.
 *
 * Young generation: a larger one is collected less often, but a collection stops the event loop for longer if
 * much survives, as when caches fill: 11 to 14 ms at V8's own limit. The 256 requests that 16 connections of
 * HTTP/2 have in flight take 2.5 MB: with half this limit, all of them survive each collection, at a quarter
 * of the CPU, and 9 of 10 collections that fill the caches take as long (1.5 ms). V8 takes a limit only on
 * the command line, so growth is switched on and off here. V8 shrinks the generation of an idle process: then
 * growth is switched on again, as allocation costs three times as much with the shrunken one.
 *
 * Pretenuring: if most objects of a place in the code survive, V8 allocates further ones of that place in the
 * old generation at once. Over HTTP/2, with 256 requests in flight, it does so for parts of a request. A dead
 * object there keeps alive what it refers to, until the old generation is collected: then the rest of the
 * request gets there too, 3 KB per request, at 1.4 times the CPU per request. It begins in half of the
 * processes, some seconds after the first request, and lasts. So it is off.
 *
 * Idle process: some 10 s after the last request, V8's memory reducer collects the old generation without
 * regard to speed. With the last objects of closed connections it discards the optimized code that handles
 * such objects. The following 3 s of load took 1.5 to 5 times the CPU per request for 7 MB less memory, so it
 * is off. What is garbage is then collected when the heap grows.
 */

import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Bytes of both semi-spaces at which growth stops. V8 doubles the size, so the result is below twice this.
 */
const MAX_SIZE = 16 * 1024 * 1024
/** Collections between two checks of a generation that has grown. V8 shrinks it in seconds. */
const CHECK_INTERVAL = 32

/** To be called once the process has started. `seatgate.js` disables growth while code is loaded. */
export function tuneGarbageCollection(): void {
  // Versions from Node.js 22 to 26 have these flags, and read them before each run of the memory reducer and
  // each collection.
  setFlagsFromString('--memory-reducer-gc-count=0')
  setFlagsFromString('--no-allocation-site-pretenuring')
  growYoungGeneration()
}

function growYoungGeneration(): void {
  let grows = true
  let collections = 0
  setFlagsFromString(growth(grows))
  const observer = new PerformanceObserver(() => {
    if (!grows && ++collections % CHECK_INTERVAL !== 0) return
    const isSmall = size() < MAX_SIZE
    if (isSmall === grows) return
    grows = isSmall
    setFlagsFromString(growth(grows))
  })
  observer.observe({ entryTypes: ['gc'] })
}

function growth(grows: boolean): string {
  return `--semi-space-growth-factor=${grows ? 2 : 1}`
}

function size(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? MAX_SIZE
}
