/**
 * Whether a flood of bad tokens starves good requests: these come at a fixed rate, first alone and then while as many bad
 * ones as go come beside them. Called by `run.ts`.
 */

import { join } from 'node:path'
import { type Load, type Loaded, saturate } from './load.ts'
import { CONNECTIONS, type Place, warmUp, withPeer } from './measure.ts'
import { atRate, type Latency } from './open-loop.ts'
import type { Peer } from './peers/peer.ts'
import type { RunRequests, Workload } from './workloads.ts'

/** Good requests a second, and the connections that they come on. */
export const GOOD_RATE = 1000
const GOOD_CONNECTIONS = 16
/** Seconds, of each kind, at most. */
const WARM_UP = 3

export interface Flood {
  readonly peer: string
  /** Of the good ones. */
  readonly alone: Latency
  readonly flooded: Latency
  /** Bad ones a second. */
  readonly bad: number
}

export interface FloodSetup {
  readonly good: Workload
  readonly bad: Workload
  readonly place: Place
  /** Of each of the two. */
  readonly seconds: number
}

export function measureFlood(peer: Peer, { good, bad, place, seconds }: FloodSetup): Promise<Flood> {
  const requests = (work: Workload): RunRequests => work.requests(place.world, join(place.folder, 'requests'))
  const [goodOnes, badOnes] = [requests(good).measured, requests(bad).measured]
  return withPeer({ peer, workload: good }, place, async ({ port }) => {
    const goodLoad = { port, requests: goodOnes, connections: GOOD_CONNECTIONS, workers: 1, rate: GOOD_RATE }
    const badLoad: Load = {
      port,
      requests: badOnes,
      connections: CONNECTIONS,
      workers: 1,
      seconds: seconds + 2,
    }
    await warmUp({ ...badLoad, requests: goodOnes, seconds: 1 }, WARM_UP)
    await warmUp({ ...badLoad, seconds: 1 }, WARM_UP)
    const alone = await atRate({ ...goodLoad, seconds })
    // The flood begins before them and ends after them.
    const [loaded, flooded] = await Promise.all([
      saturate(badLoad),
      after(1000, () => atRate({ ...goodLoad, seconds })),
    ])
    assertRefused(loaded)
    for (const { refused, failed } of [alone, flooded])
      if (refused + failed > 0)
        throw new Error(`of the good requests ${refused} were refused, ${failed} failed`)
    return { peer: peer.name, alone, flooded, bad: loaded.rate }
  })
}

async function after<V>(milliseconds: number, work: () => Promise<V>): Promise<V> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  return work()
}

function assertRefused({ requests, refused }: Loaded): void {
  if (refused !== requests) throw new Error(`${requests - refused} bad tokens were not refused`)
}
