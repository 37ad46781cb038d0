/** Nanoseconds of short operations: warmed up, measured in turn, the median of it. */

import { median } from '../statistics.ts'

/** Milliseconds of a sample, and its maximum number of repetitions. */
const SAMPLE = 30
const MOST = 200_000
/** Samples before the first one that counts, because code is still being compiled until then. */
const WARM_UP = 3

export interface Timed {
  readonly label: string
  /** Runs it this number of times. */
  readonly run: (times: number) => void | Promise<void>
}

export interface Cost {
  readonly label: string
  readonly nanoseconds: number
}

/** @param before runs before each sample to set it up */
export async function costsOf(
  all: readonly Timed[],
  rounds: number,
  before: () => Promise<void> = async () => {},
): Promise<Cost[]> {
  const prepared: { timed: Timed; times: number; samples: number[] }[] = []
  for (const timed of all) {
    let times = 10
    for (let i = 0; i < WARM_UP; i++) {
      await before()
      times = Math.min(MOST, Math.max(10, Math.round((SAMPLE * 1e6) / (await sample(timed, times)))))
    }
    prepared.push({ timed, times, samples: [] })
  }
  for (let round = 0; round < rounds; round++) {
    for (const { timed, times, samples } of round % 2 === 0 ? prepared : prepared.toReversed()) {
      await before()
      samples.push(await sample(timed, times))
    }
  }
  return prepared.map(({ timed, samples }) => ({ label: timed.label, nanoseconds: median(samples) }))
}

async function sample({ run }: Timed, times: number): Promise<number> {
  const begun = performance.now()
  await run(times)
  return ((performance.now() - begun) * 1e6) / times
}

let sink: unknown = null

/** Marks the value as used, so that the compiler cannot drop its computation. */
export function keep(value: unknown): void {
  sink = value
}

/** A stage of one call. */
export function repeated(label: string, once: (turn: number) => unknown): Timed {
  const run = (times: number) => {
    for (let turn = 0; turn < times; turn++) sink = once(turn)
    keep(sink)
  }
  return { label, run }
}
