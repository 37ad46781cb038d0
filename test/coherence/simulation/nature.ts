/** What every part of the simulated world shares: time, chance, how bad things are, and the record of what happens. */

import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** How bad things are, from the beginning until they {@link Nature.heal}. Probabilities, unless said otherwise. */
export interface Weather {
  /** Milliseconds that a way through the network takes at most, when all is well. */
  readonly usual: number
  /** That it takes much longer, and how many milliseconds at most. */
  readonly slow: number
  readonly slowest: number
  /** Statements that the store refuses, and those whose answer is lost after they took effect. */
  readonly refused: number
  readonly unanswered: number
  /** Messages. */
  readonly lost: number
  readonly doubled: number
}

export const FAIR: Weather = {
  usual: 1,
  slow: 0,
  slowest: 0,
  refused: 0,
  unanswered: 0,
  lost: 0,
  doubled: 0,
}

export interface Nature {
  readonly timeline: Timeline
  readonly random: Random
  weather: Weather
  /** Only while somebody wants to read it. */
  readonly trace: ((what: string) => void) | null
}

/** Milliseconds on the way to somewhere else. */
export function delay({ random, weather }: Nature): number {
  return random.chance(weather.slow) ? random.between(1, weather.slowest) : random.between(0.1, weather.usual)
}
