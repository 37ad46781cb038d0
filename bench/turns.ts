/**
 * Several peers in turn, such as Seatgate and those that its goals name: all of them run, and each is loaded
 * for a second in turn. A slowdown of the machine affects them alike, so that they can be compared when runs
 * half a minute apart cannot.
 */

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { needsTls } from './load-settings.ts'
import { withPeer } from './measure.ts'
import type { Place } from './place.ts'
import type { Peer, RunningPeer } from './peers/peer.ts'
import { inTurn } from './plan.ts'
import { cpuOf } from './process-tree.ts'
import type { Requests } from './requests.ts'
import { RequestsOf } from './rounds.ts'
import { median, quantile } from './statistics.ts'
import { Traffic } from './traffic.ts'
import type { Workload } from './workloads.ts'

/** The maximum cost of a request of a workload, as a multiple of its cost at each of these. */
export const GOALS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  mixed: { 'haproxy-jwt': 1, 'nginx-auth-request': 0.65 },
  'one-token': {
    'seatgate-open': 1.1,
    'haproxy-jwt': 1.1,
    'nginx-auth-request': 0.65,
    'http-proxy-3': 0.5,
    fastify: 0.5,
  },
  'tls-http1': { 'haproxy-jwt': 1.2 },
  'tls-http2': { 'haproxy-jwt': 1.1 },
}

/** Seconds of a turn with TLS, whose handshakes are part of its cost; otherwise a turn takes one second. */
const TLS_TURN = 4

const SCHEME = 'sqlite:'

export interface Turns {
  readonly workload: string
  readonly peer: string
  /** CPU microseconds per request, median. */
  readonly cpu: number
  /**
   * The ratio of Seatgate's cost to the peer's, turn by turn: median and quartiles. For Seatgate itself: 1.
   */
  readonly ratio: number
  readonly low: number
  readonly high: number
  /** Number of turns. */
  readonly turns: number
}

export interface TurnsSetup {
  readonly workload: Workload
  /** Maximum seconds. */
  readonly warmUp: number
  /** The number of rounds, each with fresh processes. */
  readonly rounds: number
  readonly turns: number
}

/** A peer that takes turns: no two of them have the same store. */
export interface Side {
  readonly peer: Peer
  readonly place: Place
  readonly requests: Requests
}

/** Measures Seatgate, and the selected peers that a goal names. Rejects if one of them has wrong answers. */
export async function measureTurns(
  peers: readonly Peer[],
  place: Place,
  setup: TurnsSetup,
): Promise<Turns[]> {
  const { workload } = setup
  const goals = GOALS[workload.name] ?? {}
  const chosen = peers.filter(({ name }) => name === 'seatgate' || name in goals)
  const requests = new RequestsOf(place)
  const sides = chosen.map((peer) => ({
    peer,
    place: ownStore(place, peer),
    requests: requests.of({ peer, workload }),
  }))
  const costs = await costsByTurns(sides, setup)
  const own = costs[chosen.findIndex(({ name }) => name === 'seatgate')] ?? []
  return chosen.map(({ name }, i) => turnsOf(workload.name, name, own, costs[i] ?? []))
}

function turnsOf(workload: string, peer: string, own: readonly number[], its: readonly number[]): Turns {
  const ratios = own.map((cpu, turn) => cpu / (its[turn] ?? Number.NaN))
  const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)]
  return { workload, peer, cpu: median(its), ratio: median(ratios), low, high, turns: ratios.length }
}

/** CPU microseconds per request, of each side in each turn. */
export async function costsByTurns(sides: readonly Side[], setup: TurnsSetup): Promise<number[][]> {
  const { workload } = setup
  const costs = sides.map((): number[] => [])
  for (let round = 0; round < setup.rounds; round++) {
    await withAll(sides, workload, async (loaded) => {
      for (const { traffic } of loaded) await traffic.warmUp(setup.warmUp)
      for (let turn = 0; turn < setup.turns; turn++)
        for (const [at, each] of inTurn([...loaded.entries()], turn)) costs[at]?.push(await each.cost())
    })
  }
  return costs
}

/** Starts all sides, so that they run at the same time. */
function withAll<V>(
  [side, ...rest]: readonly Side[],
  workload: Workload,
  use: (loaded: readonly LoadedPeer[]) => Promise<V>,
): Promise<V> {
  if (side === undefined) return use([])
  return withPeer({ peer: side.peer, workload }, side.place, (running) =>
    withAll(rest, workload, (others) => use([new LoadedPeer(running, side, workload), ...others])),
  )
}

/** Copies the store, which permits one gateway at a time. */
export function ownStore(place: Place, { name }: Peer): Place {
  const path = join(place.folder, `${name}.db`)
  copyFileSync(place.world.store.slice(SCHEME.length), path)
  return { ...place, world: { ...place.world, store: SCHEME + path } }
}

class LoadedPeer {
  readonly traffic: Traffic
  readonly #pids: readonly number[]
  readonly #seconds: number

  constructor({ port, pids }: RunningPeer, { peer: { authorises }, requests }: Side, workload: Workload) {
    const { workers, client } = workload
    this.traffic = new Traffic({ port, requests, authorises, workers, client })
    this.#pids = pids
    this.#seconds = needsTls(client) ? TLS_TURN : 1
  }

  /** CPU microseconds per request, in one turn. */
  async cost(): Promise<number> {
    const before = cpuOf(this.#pids)
    const { requests } = await this.traffic.saturate(this.#seconds)
    return (cpuOf(this.#pids) - before) / requests
  }
}
