/** All selected parts in sequence. A part that cannot be measured is reported, and the rest continues. */

import { loadavg } from 'node:os'
import { join } from 'node:path'
import { faultsOf } from './check.ts'
import { measureCurves } from './curves/measure.ts'
import { type Flood, measureFlood } from './flood.ts'
import { messageOf, say } from './harness.ts'
import type { Place } from './place.ts'
import { stageCosts } from './micro/stages.ts'
import { measureNeighbours } from './neighbour/measure.ts'
import type { Peer } from './peers/peer.ts'
import type { Choice, Part } from './plan.ts'
import type { Measured } from './measured.ts'
import { machine } from './results.ts'
import { jobsOf, type RoundLengths, runRounds } from './rounds.ts'
import { GOALS, measureTurns, type Turns } from './turns.ts'
import { badTokens, mixed, oneToken, workloads as all, type Workload } from './workloads.ts'

/** The parts that need peers. */
const OF_PEERS: readonly Part[] = ['turns', 'flood']

export interface Wanted extends Choice<Peer, Workload> {
  readonly quick: boolean
  readonly rounds: number
  readonly lengths: RoundLengths
}

export class WholeBench {
  readonly #wanted: Wanted
  readonly #place: Place
  /** Excluded items, and the reasons. */
  readonly #left: string[] = []

  constructor(wanted: Wanted, place: Place) {
    this.#wanted = wanted
    this.#place = place
  }

  async run(): Promise<Measured> {
    const { workloads, parts, quick, rounds, lengths } = this.#wanted
    const place = this.#place
    const [before = 0] = loadavg()
    const peers = await this.#peers()
    const runs = jobsOf(peers, workloads).length * rounds
    const perRun = lengths.warmUp + lengths.saturated + 2
    say(`${runs} runs of ${perRun} s or less, then the parts: ${parts.join(', ') || 'none'}`)
    const results = await runRounds(jobsOf(peers, workloads), rounds, place, lengths)
    const turns = parts.includes('turns') ? await this.#turns(peers) : []
    const floods = parts.includes('flood') ? await this.#floods(peers) : []
    const neighbour = () => measureNeighbours(place, quick ? 3 : 10)
    const neighbours = parts.includes('neighbour') ? await this.#attempt('neighbour', neighbour) : null
    const { world, folder } = place
    const micro = () => stageCosts(world, folder, quick ? 7 : 15)
    const stages = parts.includes('micro') ? await this.#attempt('micro', micro) : null
    const curves = parts.includes('curves')
      ? await this.#attempt('curves', () => measureCurves(place, quick))
      : null
    const [after = 0] = loadavg()
    return {
      machine: machine(),
      quick,
      rounds,
      upstream: place.upstreams.by,
      load: [before, after],
      peers,
      workloads,
      table: workloads[0]?.name ?? mixed.name,
      results,
      left: this.#left,
      turns,
      floods,
      neighbours: neighbours ?? [],
      stages: stages ?? [],
      curves,
    }
  }

  /** The available peers with correct answers; none if no part needs them. */
  async #peers(): Promise<Peer[]> {
    const { peers, workloads, parts } = this.#wanted
    if (workloads.length === 0 && !parts.some((part) => OF_PEERS.includes(part))) return []
    const able: Peer[] = []
    for (const peer of peers) {
      const fault = peer.available() ?? (await this.#faultOf(peer))
      if (fault === null) able.push(peer)
      else this.#leave(`${peer.label}: ${fault}`)
    }
    return able
  }

  async #faultOf(peer: Peer): Promise<string | null> {
    const { world, folder } = this.#place
    try {
      const faults = await faultsOf(peer, world, join(folder, `check-${peer.name}`))
      return faults.length === 0 ? null : `disqualified: ${faults.join('; ')}`
    } catch (cause) {
      return messageOf(cause)
    }
  }

  async #turns(peers: readonly Peer[]): Promise<Turns[]> {
    const { quick, rounds, lengths, workloads } = this.#wanted
    const chosen = workloads.length === 0 ? all : workloads
    const turns: Turns[] = []
    for (const workload of chosen.filter(({ name }) => name in GOALS)) {
      const setup = { workload, warmUp: lengths.warmUp, rounds, turns: quick ? 4 : 12 }
      const work = () => measureTurns(peers, this.#place, setup)
      turns.push(...((await this.#attempt(`${workload.name}, by turns`, work)) ?? []))
    }
    return turns
  }

  async #floods(peers: readonly Peer[]): Promise<Flood[]> {
    const floods: Flood[] = []
    const setup = { good: oneToken, bad: badTokens, place: this.#place, seconds: this.#wanted.quick ? 2 : 5 }
    for (const peer of peers.filter(({ name }) => name === 'seatgate' || badTokens.rivals.includes(name))) {
      const flood = await this.#attempt(`flood of ${peer.name}`, () => measureFlood(peer, setup))
      if (flood !== null) floods.push(flood)
    }
    return floods
  }

  async #attempt<V>(what: string, work: () => Promise<V>): Promise<V | null> {
    say(what)
    try {
      return await work()
    } catch (cause) {
      this.#leave(`${what}: ${messageOf(cause)}`)
      return null
    }
  }

  #leave(line: string): void {
    say(line)
    this.#left.push(line)
  }
}
