/**
 * Counters of every request, as plain numbers: an increment takes nanoseconds, where prom-client computes its
 * labels each time. They become metrics at a scrape.
 */

import type { Sample } from './metric-registry.ts'

/** Durations in seconds and statuses of one route. */
export class RouteTally {
  readonly #bounds: readonly number[]
  /** One more than the bounds: for values beyond the last. */
  readonly buckets: Float64Array
  sum = 0
  readonly #statuses: number[] = []
  readonly #counts: number[] = []

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.buckets = new Float64Array(bounds.length + 1)
  }

  countStatus(status: number): void {
    // A route has few statuses.
    const at = this.#statuses.indexOf(status)
    if (at < 0) {
      this.#statuses.push(status)
      this.#counts.push(1)
    } else this.#counts[at] = (this.#counts[at] ?? 0) + 1
  }

  observe(seconds: number): void {
    let at = 0
    while (at < this.#bounds.length && seconds > (this.#bounds[at] ?? 0)) at++
    this.buckets[at] = (this.buckets[at] ?? 0) + 1
    this.sum += seconds
  }

  get byStatus(): Iterable<readonly [number, number]> {
    return this.#statuses.map((status, i) => [status, this.#counts[i] ?? 0] as const)
  }
}

/** Values of a Prometheus histogram: buckets are cumulative. */
export function histogramValues(
  name: string,
  bounds: readonly number[],
  labels: Readonly<Record<string, string>>,
  { buckets, sum }: RouteTally,
): Sample[] {
  let count = 0
  const values = [...bounds, '+Inf'].map((le, i) => {
    count += buckets[i] ?? 0
    return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
  })
  const [whole, number] = [{ metricName: `${name}_sum` }, { metricName: `${name}_count` }]
  return [...values, { labels, value: sum, ...whole }, { labels, value: count, ...number }]
}
