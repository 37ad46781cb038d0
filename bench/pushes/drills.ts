/** Pushes while an instance or Redis is away: no instance decides by the former tables after the answer. */

import { until } from '../../test/support/until.ts'
import type { FleetGateway } from '../../test/fleet/gateway.ts'
import { Ending, say } from '../harness.ts'
import { type Checked, checkedOf } from './fleets.ts'
import { now, type Probe } from './probers.ts'
import { type Push, PushedFleet } from './pushed-fleet.ts'

/** Requests that are sent to an instance at the same time: these wait while it is frozen. */
const READERS = 4
const INSTANCES = 3

export interface Drilled extends Checked {
  readonly drill: string
  readonly routes: number
  /** Milliseconds until the 200 of each push. */
  readonly answers: readonly number[]
  /** Answers of the instance that was away, from when it came back. */
  readonly returned: number
}

interface Drill {
  readonly name: string
  before?(pushed: PushedFleet, victim: FleetGateway): Promise<void>
  /** While the push is under way. */
  during?(pushed: PushedFleet, victim: FleetGateway): Promise<void>
  /** Ends the fault after the answer. */
  after?(pushed: PushedFleet, victim: FleetGateway): Promise<void>
  /** Whether the victim takes the push, and the push is repeated at another instance. */
  readonly writes?: boolean
  /** Whether what waits at the victim is decided after the answer. */
  readonly holds?: boolean
}

const drills: readonly Drill[] = [
  { name: 'none' },
  {
    name: 'an instance is frozen by SIGSTOP',
    holds: true,
    before: (_, victim) => victim.freeze(),
    after: async (_, victim) => victim.thaw(),
  },
  {
    name: 'an instance ends by SIGKILL between the phases',
    // Frozen, it cannot answer: the candidate stays one until its lease has ended.
    before: (_, victim) => victim.freeze(),
    during: killBetween,
    after: (_, victim) => victim.start(),
  },
  {
    name: 'the instance that takes the push ends by SIGKILL between the phases, and the push is repeated',
    writes: true,
    // The candidate stays one until the lease of the frozen instance has ended.
    before: ({ fleet }) => fleet.at(1).freeze(),
    async during(pushed, victim) {
      await killBetween(pushed, victim)
      pushed.fleet.at(1).thaw()
    },
    after: (_, victim) => victim.start(),
  },
  {
    name: 'an instance is without the store',
    before: async (_, { toStore }) => toStore?.cut(),
    after: async (_, { toStore }) => toStore?.heal(),
  },
  {
    name: 'Redis is silent',
    before: async ({ fleet }) => fleet.gateways.forEach(({ toRedis }) => toRedis?.freeze()),
    after: async ({ fleet }) => {
      for (const { toRedis } of fleet.gateways) await toRedis?.heal()
    },
  },
]

export async function measureDrills(routes: number, turns: number): Promise<Drilled[]> {
  await using ending = new Ending()
  const shape = { instances: INSTANCES, redis: true, readers: READERS, proxies: true }
  const pushed = await PushedFleet.start(ending, shape)
  await pushed.resize(routes)
  const measured: Drilled[] = []
  for (const drill of drills) {
    say(`drill, ${routes} routes: ${drill.name}`)
    const all: Omit<Drilled, 'drill' | 'routes'>[] = []
    for (let at = 0; at < turns; at++) all.push(await turn(pushed, drill))
    const sum = (key: 'checked' | 'stale' | 'returned') => all.reduce((total, each) => total + each[key], 0)
    measured.push({
      ...{ drill: drill.name, routes },
      answers: all.flatMap(({ answers }) => answers),
      ...{ checked: sum('checked'), stale: sum('stale'), returned: sum('returned') },
    })
  }
  return measured
}

async function turn(pushed: PushedFleet, drill: Drill): Promise<Omit<Drilled, 'drill' | 'routes'>> {
  const [writer, victim] = [pushed.fleet.first, pushed.fleet.at(INSTANCES - 1)]
  await drill.before?.(pushed, victim)
  const during = () => drill.during?.(pushed, victim) ?? Promise.resolve()
  if (drill.writes === true) {
    const first = await pushed.push(victim, during).catch(() => null)
    if (first !== null) throw new Error('the instance answered, although it had ended')
  }
  const push = await pushed.push(writer, drill.writes === true ? undefined : during)
  // Before the fault ends, the others have decided some requests.
  await pushed.settled(
    push,
    pushed.fleet.gateways.filter((each) => each !== victim),
  )
  const returnedAt = now()
  await drill.after?.(pushed, victim)
  await pushed.settled({ ...push, answered: returnedAt })
  const probes = [...pushed.probers].map(([gateway, prober]) => ({ gateway, probes: prober.take() }))
  const { checked, stale } = checkedOf(
    probes.flatMap((each) => each.probes),
    push,
  )
  const ofVictim = probes.find(({ gateway }) => gateway === victim)?.probes ?? []
  const late = lateOf(ofVictim, push, returnedAt)
  const held = late.filter(({ began }) => drill.holds === true && began <= push.answered)
  return {
    answers: [push.answered - push.began],
    returned: late.length,
    checked: checked + held.length,
    stale: stale + held.filter(({ status }) => status === push.former).length,
  }
}

/** The decisions that came after the fault. */
function lateOf(probes: readonly Probe[], { former, next }: Push, since: number): Probe[] {
  return probes.filter(({ ended, status }) => ended > since && (status === former || status === next))
}

/** Once the candidate is in the store. */
async function killBetween({ fleet }: PushedFleet, victim: FleetGateway): Promise<void> {
  const text = 'SELECT id FROM seatgate.tables_candidates'
  await until(async () => (await fleet.query(text, [])).length > 0, 'a candidate', { pause: 1 })
  await victim.kill()
}
