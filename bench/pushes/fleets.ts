/** Pushes in a quiet fleet: how long each phase takes, and when each instance decides by the new tables. */

import { Ending, say } from '../harness.ts'
import type { Probe } from './probers.ts'
import { type Push, PushedFleet } from './pushed-fleet.ts'

export interface Checked {
  /** Decisions whose requests began after the answer. */
  readonly checked: number
  /** Decisions of these by the former tables. */
  readonly stale: number
}

export interface Turn extends Checked {
  readonly push: Push
  /** Milliseconds from the commit to the first answer by the new tables, at each instance. */
  readonly first: readonly number[]
}

export interface FleetPushes {
  readonly instances: number
  readonly redis: boolean
  readonly routes: number
  readonly turns: readonly Turn[]
}

export async function measureFleet(
  instances: number,
  redis: boolean,
  sizes: readonly number[],
  turns: number,
): Promise<FleetPushes[]> {
  await using ending = new Ending()
  const pushed = await PushedFleet.start(ending, { instances, redis, readers: 1 })
  const measured: FleetPushes[] = []
  for (const routes of sizes) {
    say(`${instances} instances, ${redis ? 'Redis' : 'no Redis'}, ${routes} routes`)
    await pushed.resize(routes)
    const all: Turn[] = []
    for (let at = 0; at < turns; at++) all.push(await turn(pushed, at))
    measured.push({ instances, redis, routes, turns: all })
  }
  return measured
}

/** @param at pushes are answered by the instances one after another */
async function turn(pushed: PushedFleet, at: number): Promise<Turn> {
  const { gateways } = pushed.fleet
  const push = await pushed.push(pushed.fleet.at(at % gateways.length))
  await pushed.settled(push)
  const probes = [...pushed.probers.values()].map((prober) => prober.take())
  const first = probes.map((each) => firstBy(each, push) - push.activated)
  return { push, first, ...checkedOf(probes.flat(), push) }
}

/** When the first answer by the new tables came, in ms since the epoch. */
function firstBy(probes: readonly Probe[], { activated, next }: Push): number {
  const ends = probes.filter(({ ended, status }) => ended > activated && status === next)
  return Math.min(...ends.map(({ ended }) => ended))
}

/** A request that gets no decision, such as a 503, is not counted. */
export function checkedOf(probes: readonly Probe[], { answered, former, next }: Push): Checked {
  const after = probes.filter(({ began }) => began > answered)
  const by = (wanted: number) => after.filter(({ status }) => status === wanted).length
  return { checked: by(former) + by(next), stale: by(former) }
}
