/** Shared state of the simulation: time, randomness, network conditions and the trace. */

import type { ModelTrace } from './model-trace.ts'
import type { Random } from '../../support/random.ts'
import type { Timeline } from './timeline.ts'

/** Network conditions and fault rates until the faults end. Probabilities, unless said otherwise. */
export interface Conditions {
  /** Maximum network delay in milliseconds without a fault. */
  readonly usual: number
  /** Probability of a longer delay, and its maximum in milliseconds. */
  readonly slow: number
  readonly slowest: number
  /** Statements that the store refuses, and statements whose response is lost after they took effect. */
  readonly refused: number
  readonly unanswered: number
  /** Messages. */
  readonly lost: number
  readonly doubled: number
}

export const NO_FAULTS: Conditions = {
  usual: 1,
  slow: 0,
  slowest: 0,
  refused: 0,
  unanswered: 0,
  lost: 0,
  doubled: 0,
}

export interface Context {
  readonly timeline: Timeline
  readonly random: Random
  conditions: Conditions
  /** Null: no trace is wanted. */
  readonly trace: ((what: string) => void) | null
  /** Null: what happens is not told in the model's words. */
  model: ModelTrace | null
}

/** A random network delay in milliseconds. */
export function delay({ random, conditions }: Context): number {
  return random.chance(conditions.slow)
    ? random.between(1, conditions.slowest)
    : random.between(0.1, conditions.usual)
}
