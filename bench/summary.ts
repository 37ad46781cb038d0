/** Summaries of samples: medians, their spread, and ratios of figures from the same round. */

import type { Sample } from './measure.ts'
import type { Result } from './rounds.ts'
import { median } from './statistics.ts'

export interface Summary {
  readonly cpu: number
  /** The least and the most of the rounds. */
  readonly spread: readonly [number, number]
  readonly rate: number
  readonly idle: number
  readonly loaded: number
  readonly startedIn: number
  /** Milliseconds: p50, p99, p99.9; null: none were measured. */
  readonly latency: readonly [number, number, number] | null
  /** The load's own delay in milliseconds, p99. */
  readonly late: number | null
}

/** Returns null if no run gave a sample. */
export function summaryOf(samples: readonly Sample[]): Summary | null {
  if (samples.length === 0) return null
  const of = (read: (sample: Sample) => number) => median(samples.map(read))
  const cpus = samples.map(({ cpu }) => cpu)
  const latencies = samples.flatMap(({ latency }) => (latency === null ? [] : [latency]))
  const at = (read: (latency: (typeof latencies)[number]) => number) => median(latencies.map(read))
  return {
    cpu: median(cpus),
    spread: [Math.min(...cpus), Math.max(...cpus)],
    rate: of(({ rate }) => rate),
    idle: of(({ idle }) => idle),
    loaded: of(({ loaded }) => loaded),
    startedIn: of(({ startedIn }) => startedIn),
    latency:
      latencies.length === 0 ? null : [at(({ p50 }) => p50), at(({ p99 }) => p99), at(({ p999 }) => p999)],
    late: latencies.length === 0 ? null : at(({ late }) => late),
  }
}

export function resultOf(results: readonly Result[], peer: string, workload: string): Result | undefined {
  return results.find((each) => each.peer === peer && each.workload === workload)
}

/** The median of the ratios of CPU per request, round by round; null if one of the two is missing. */
export function ratioOf(one: Result | undefined, other: Result | undefined): number | null {
  const ratios = ratiosOf(one?.samples ?? [], other?.samples ?? [])
  return ratios.length === 0 ? null : median(ratios)
}

export function ratiosOf(samples: readonly Sample[], others: readonly Sample[]): number[] {
  return samples.flatMap(({ cpu }, round) => {
    const other = others[round]
    return other === undefined ? [] : [cpu / other.cpu]
  })
}
