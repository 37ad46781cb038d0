/** Which traces are recorded. The decision depends on the trace id alone, so that every process makes the same one. */

import type { SamplerConfig } from '../../config/open-telemetry/types.ts'

/** The last 14 digits of a trace id: 56 random bits (W3C Trace Context, level 2, "random-trace-id"). */
const DIGITS = 14
const FIRST_DIGIT = 32 - DIGITS
const RANGE = 2 ** 56

export class Sampler {
  readonly #parentBased: boolean
  /** Trace ids whose last digits are not less are sampled; null: none is. Hex digits of one length compare as numbers. */
  readonly #threshold: string | null

  constructor({ parentBased, ratio }: SamplerConfig) {
    this.#parentBased = parentBased
    this.#threshold = thresholdOf(ratio)
  }

  /** @param parentSampled of the span that the trace continues; null: the trace begins here */
  samples(traceId: string, parentSampled: boolean | null): boolean {
    if (this.#parentBased && parentSampled !== null) return parentSampled
    return this.#threshold !== null && traceId.slice(FIRST_DIGIT) >= this.#threshold
  }
}

/** Null: the ratio is less than one of all ids. */
function thresholdOf(ratio: number): string | null {
  // The product is exact: a power of two changes the exponent only.
  const sampled = Math.round(ratio * RANGE)
  if (sampled === 0) return null
  const rejected = BigInt(RANGE) - BigInt(sampled)
  return rejected.toString(16).padStart(DIGITS, '0')
}
