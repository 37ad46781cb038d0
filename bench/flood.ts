/**
 * Whether a flood of invalid tokens delays valid requests: these are sent at a fixed rate, first alone, and
 * then beside as many invalid ones as possible.
 */

import { withPeer } from './measure.ts'
import type { Place } from './place.ts'
import type { Latency } from './load-settings.ts'
import type { Peer } from './peers/peer.ts'
import { RequestsOf } from './rounds.ts'
import { Traffic } from './traffic.ts'
import type { Workload } from './workloads.ts'

/** Valid requests per second, and their connections. */
export const GOOD_RATE = 1000
const GOOD_CONNECTIONS = 16
/** Maximum seconds of each kind. */
const WARM_UP = 3

export interface Flood {
  readonly peer: string
  /** The latency of the valid requests. */
  readonly alone: Latency
  readonly flooded: Latency
  /** Invalid requests per second. */
  readonly bad: number
}

export interface FloodSetup {
  readonly good: Workload
  readonly bad: Workload
  readonly place: Place
  /** The time of each of the two measurements. */
  readonly seconds: number
}

export function measureFlood(peer: Peer, { good, bad, place, seconds }: FloodSetup): Promise<Flood> {
  const requests = new RequestsOf(place)
  const [goodOnes, badOnes] = [requests.of({ peer, workload: good }), requests.of({ peer, workload: bad })]
  return withPeer({ peer, workload: good }, place, async ({ port }) => {
    const common = { port, authorises: true, workers: 1 }
    const honest = new Traffic({ ...common, requests: goodOnes, connections: GOOD_CONNECTIONS })
    const flood = new Traffic({ ...common, requests: badOnes })
    await honest.warmUp(WARM_UP)
    await flood.warmUp(WARM_UP)
    const alone = await honest.atRate(GOOD_RATE, seconds)
    // The flood begins before the valid requests and ends after them.
    const [{ rate }, flooded] = await Promise.all([
      flood.saturate(seconds + 2),
      after(1000, () => honest.atRate(GOOD_RATE, seconds)),
    ])
    return { peer: peer.name, alone, flooded, bad: rate }
  })
}

async function after<V>(milliseconds: number, work: () => Promise<V>): Promise<V> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  return work()
}
