/**
 * Seatgate and those that its goals name, by turns: all of them run, and one after the other is loaded for a second.
 * What slows the machine down for some seconds slows them alike: so they can be compared in an hour in which runs that are
 * half a minute apart can't be. Called by `whole.ts`.
 */

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Load, saturate } from './load.ts'
import { assertAnswers, CONNECTIONS, type Place, warmUp, withPeer } from './measure.ts'
import type { Peer, RunningPeer } from './peers/peer.ts'
import { inTurn } from './plan.ts'
import { cpuOf } from './process-tree.ts'
import { median, quantile } from './scale/statistics.ts'
import type { RunRequests, Workload } from './workloads.ts'

/** What a request may cost at most, as a multiple of what it costs them. */
export const GOALS: ReadonlyMap<string, number> = new Map([
  ['seatgate-open', 1.1],
  ['haproxy-jwt', 1.1],
  ['nginx-auth-request', 0.65],
  ['http-proxy-3', 0.5],
  ['fastify', 0.5],
])

const SCHEME = 'sqlite:'

export interface Turns {
  readonly peer: string
  /** CPU microseconds a request, median. */
  readonly cpu: number
  /** Of Seatgate's and its own, turn by turn: median and quartiles. Of Seatgate itself: 1. */
  readonly ratio: number
  readonly low: number
  readonly high: number
  /** How many there were. */
  readonly turns: number
}

export interface TurnsSetup {
  readonly workload: Workload
  /** Seconds, at most. */
  readonly warmUp: number
  /** With fresh processes each. */
  readonly rounds: number
  readonly turns: number
}

/** Of those among the peers that a goal names, and of Seatgate. Rejects where one of them answers wrongly. */
export async function measureTurns(
  peers: readonly Peer[],
  place: Place,
  setup: TurnsSetup,
): Promise<Turns[]> {
  const { workload, rounds } = setup
  const chosen = peers.filter(({ name }) => name === 'seatgate' || GOALS.has(name))
  const requests = workload.requests(place.world, join(place.folder, 'requests'))
  const costs = new Map(chosen.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round < rounds; round++) {
    await withAll(chosen, workload, place, async (running) => {
      for (const each of running) await warmUp(loadOf(each, requests, 'warmUp'), setup.warmUp)
      for (let turn = 0; turn < setup.turns; turn++)
        for (const at of inTurn([...chosen.keys()], turn)) {
          const [peer, one] = [chosen[at], running[at]]
          if (peer === undefined || one === undefined) continue
          costs.get(peer.name)?.push(await costOf(one, workload, requests))
        }
    })
  }
  const own = costs.get('seatgate') ?? []
  return chosen.map(({ name }) => turnsOf(name, own, costs.get(name) ?? []))
}

function turnsOf(peer: string, own: readonly number[], its: readonly number[]): Turns {
  const ratios = own.map((cpu, turn) => cpu / (its[turn] ?? Number.NaN))
  const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)]
  return { peer, cpu: median(its), ratio: median(ratios), low, high, turns: ratios.length }
}

/** All at once. */
function withAll<V>(
  peers: readonly Peer[],
  workload: Workload,
  place: Place,
  use: (running: readonly RunningPeer[]) => Promise<V>,
): Promise<V> {
  const [peer, ...rest] = peers
  if (peer === undefined) return use([])
  return withPeer({ peer, workload }, ownStore(place, peer), (one) =>
    withAll(rest, workload, place, (others) => use([one, ...others])),
  )
}

/** A store takes one gateway at a time. */
function ownStore(place: Place, { name }: Peer): Place {
  const path = join(place.folder, `${name}.db`)
  copyFileSync(place.world.store.slice(SCHEME.length), path)
  return { ...place, world: { ...place.world, store: SCHEME + path } }
}

function loadOf({ port }: RunningPeer, requests: RunRequests, kind: keyof RunRequests): Load {
  return { port, requests: requests[kind], connections: CONNECTIONS, workers: 1, seconds: 1 }
}

async function costOf(one: RunningPeer, workload: Workload, requests: RunRequests): Promise<number> {
  const before = cpuOf(one.pids)
  const loaded = await saturate(loadOf(one, requests, 'measured'))
  const cost = (cpuOf(one.pids) - before) / loaded.requests
  assertAnswers(workload, loaded)
  return cost
}
