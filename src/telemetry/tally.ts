/**
 * What is counted at each request, as plain numbers: adding to one costs nanoseconds, where a client of Prometheus
 * works out its labels each time. They become metrics when somebody scrapes.
 */

import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client'

/** A counter with labels; its cells are found by a text, as one has it at hand. */
export class Tally {
  readonly #cells = new Map<string, number>()

  add(key: string): void {
    this.#cells.set(key, (this.#cells.get(key) ?? 0) + 1)
  }

  get entries(): Iterable<[string, number]> {
    return this.#cells
  }
}

/** How long requests took, in seconds, and what was answered: of one route. */
export class RouteTally {
  readonly #bounds: readonly number[]
  /** One more than there are bounds: what is beyond the last. */
  readonly buckets: Float64Array
  sum = 0
  readonly #statuses: number[] = []
  readonly #counts: number[] = []

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.buckets = new Float64Array(bounds.length + 1)
  }

  answered(status: number): void {
    // A route has few.
    const at = this.#statuses.indexOf(status)
    if (at < 0) {
      this.#statuses.push(status)
      this.#counts.push(1)
    } else this.#counts[at] = (this.#counts[at] ?? 0) + 1
  }

  /** @param seconds that it took */
  took(seconds: number): void {
    let at = 0
    while (at < this.#bounds.length && seconds > (this.#bounds[at] ?? 0)) at++
    this.buckets[at] = (this.buckets[at] ?? 0) + 1
    this.sum += seconds
  }

  get byStatus(): Iterable<readonly [number, number]> {
    return this.#statuses.map((status, i) => [status, this.#counts[i] ?? 0] as const)
  }
}

/** Values of a histogram in Prometheus' way: each bucket counts those before it too. */
export function histogramValues(
  name: string,
  bounds: readonly number[],
  labels: Readonly<Record<string, string>>,
  { buckets, sum }: RouteTally,
): MetricValue<string>[] {
  let count = 0
  const values = [...bounds, '+Inf'].map((le, i) => {
    count += buckets[i] ?? 0
    return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
  })
  const [whole, number] = [{ metricName: `${name}_sum` }, { metricName: `${name}_count` }]
  return [...values, { labels, value: sum, ...whole }, { labels, value: count, ...number }]
}

/** Adds a metric whose values are read when scraped. */
export function addMetric(
  registry: Registry,
  about: { readonly name: string; readonly help: string; readonly type: 'counter' | 'histogram' },
  read: () => MetricValue<string>[],
): void {
  const metric = {
    ...about,
    get: async () =>
      ({ ...about, aggregator: 'sum', values: read() }) as unknown as MetricObjectWithValues<
        MetricValue<string>
      >,
    reset: () => {},
  }
  // All that a registry asks of a metric are its name and these two.
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])
}
