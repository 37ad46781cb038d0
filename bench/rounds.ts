/** All runs of peers on workloads, round by round. A failed run is reported, and the others continue. */

import { join } from 'node:path'
import { type Job, type Lengths, measure, type Sample } from './measure.ts'
import type { Place } from './place.ts'
import { messageOf, say } from './harness.ts'
import type { Peer } from './peers/peer.ts'
import { inTurn } from './plan.ts'
import type { Requests } from './requests.ts'
import type { Workload } from './workloads.ts'

/** Made once for all peers with the same requests. */
export class RequestsOf {
  readonly #place: Place
  readonly #made = new Map<string, Requests>()

  constructor(place: Place) {
    this.#place = place
  }

  of({ peer: { apiKeys = false }, workload }: Job): Requests {
    const { world, folder: parent } = this.#place
    const folder = join(parent, apiKeys ? 'requests' : 'requests-without-keys')
    const key = join(folder, workload.name)
    const requests = this.#made.get(key) ?? workload.requests(world, folder, apiKeys)
    this.#made.set(key, requests)
    return requests
  }
}

export interface Result {
  readonly peer: string
  readonly workload: string
  readonly samples: readonly Sample[]
  /** Errors of failed runs. */
  readonly failures: readonly string[]
}

/** The first workload has a longer warm-up than the others, and is the only one whose latency is measured. */
export interface RoundLengths extends Lengths {
  readonly shortWarmUp: number
}

/** Seatgate runs every workload; the others run those that they support. */
export function jobsOf(peers: readonly Peer[], workloads: readonly Workload[]): Job[] {
  const can = ({ rivals }: Workload, { name }: Peer) =>
    rivals === 'all' || name === 'seatgate' || rivals.includes(name)
  return workloads.flatMap((workload) =>
    peers.filter((peer) => can(workload, peer)).map((peer) => ({ peer, workload })),
  )
}

export async function runRounds(
  jobs: readonly Job[],
  rounds: number,
  place: Place,
  lengths: RoundLengths,
): Promise<Result[]> {
  const requests = new RequestsOf(place)
  const results = jobs.map(() => ({ samples: [] as Sample[], failures: [] as string[] }))
  const first = jobs[0]?.workload
  for (let round = 0; round < rounds; round++) {
    for (const job of inTurn(jobs, round)) {
      const { samples = [], failures = [] } = results[jobs.indexOf(job)] ?? {}
      const isFirst = job.workload === first
      const rated = isFirst ? lengths.rated : 0
      const warmUp = isFirst ? lengths.warmUp : lengths.shortWarmUp
      try {
        samples.push(await measure(job, requests.of(job), place, { ...lengths, rated, warmUp }))
      } catch (cause) {
        failures.push(messageOf(cause))
      }
      say(`${round + 1}/${rounds} ${lineOf(job, samples.at(-1), failures.at(-1))}`)
    }
  }
  return jobs.map(({ peer, workload }, i) => ({
    peer: peer.name,
    workload: workload.name,
    samples: results[i]?.samples ?? [],
    failures: results[i]?.failures ?? [],
  }))
}

function lineOf({ peer, workload }: Job, sample: Sample | undefined, failure: string | undefined): string {
  const name = `${workload.name} ${peer.name}`
  if (sample === undefined) return `${name}: ${failure ?? 'nothing'}`
  return `${name}: ${sample.cpu.toFixed(1)} µs, ${sample.rate.toFixed(0)} requests/s`
}
