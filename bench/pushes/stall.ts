/** The longest wait of a request, and the longest delay of an event loop, during a push and without one. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { FleetGateway } from '../../test/fleet/gateway.ts'
import { metric } from '../../test/support/operations.ts'
import { Ending, say } from '../harness.ts'
import { now, type Probe } from './probers.ts'
import { PushedFleet } from './pushed-fleet.ts'

/** Milliseconds of an interval. */
interface Waits {
  readonly request: number
  /** Of the instance that has the longest; includes the 10 ms between two of its readings. */
  readonly delay: number
}

export interface Stalls {
  readonly routes: number
  /** One of each turn. */
  readonly during: readonly Waits[]
  /** In the same time after it. */
  readonly without: readonly Waits[]
}

export async function measureStalls(
  instances: number,
  sizes: readonly number[],
  turns: number,
): Promise<Stalls[]> {
  await using ending = new Ending()
  const pushed = await PushedFleet.start(ending, { instances, redis: true, readers: 1 })
  const measured: Stalls[] = []
  for (const routes of sizes) {
    say(`stall: ${routes} routes`)
    await pushed.resize(routes)
    const [during, without]: Waits[][] = [[], []]
    for (let at = 0; at < turns; at++) {
      const writer = pushed.fleet.at(at % instances)
      let took = 0
      const push = async () => {
        const one = await pushed.push(writer)
        took = one.answered - one.began
        await pushed.settled(one)
      }
      during?.push(await waitsOf(pushed, push))
      without?.push(await waitsOf(pushed, () => sleep(took)))
    }
    measured.push({ routes, during: during ?? [], without: without ?? [] })
  }
  return measured
}

async function waitsOf(pushed: PushedFleet, work: () => Promise<void>): Promise<Waits> {
  const { gateways } = pushed.fleet
  const probers = [...pushed.probers.values()]
  // A reading of the delay resets it.
  await Promise.all(gateways.map(delayOf))
  for (const prober of probers) prober.take()
  const begun = now()
  await work()
  const delays = await Promise.all(gateways.map(delayOf))
  const waits = probers.flatMap((prober) => prober.take()).filter(({ began }) => began >= begun)
  return { request: longest(waits), delay: Math.max(...delays) }
}

function longest(probes: readonly Probe[]): number {
  return Math.max(...probes.map(({ began, ended }) => ended - began))
}

async function delayOf(gateway: FleetGateway): Promise<number> {
  return 1000 * (await metric(gateway, 'nodejs_eventloop_lag_max_seconds'))
}
