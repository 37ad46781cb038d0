/**
 * Counters of every request, as plain numbers: an increment takes nanoseconds, where prom-client computes its labels
 * each time. They become metrics at a scrape.
 */

import { Counter, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'

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
): MetricValue<string>[] {
  let count = 0
  const values = [...bounds, '+Inf'].map((le, i) => {
    count += buckets[i] ?? 0
    return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
  })
  const [whole, number] = [{ metricName: `${name}_sum` }, { metricName: `${name}_count` }]
  return [...values, { labels, value: sum, ...whole }, { labels, value: count, ...number }]
}

/** The metrics of a part of the gateway. */
export class MetricRegistry {
  readonly registry = new Registry()

  /**
   * Adds a metric whose values are read at each scrape. The interface of prom-client has no such metric: its counters take one
   * value at a time (5 to 90 ms of the event loop with 10,000 routes), and its histograms take no buckets.
   *
   * @param aggregator merges the values of several workers
   */
  read(
    type: 'counter' | 'gauge' | 'histogram',
    name: string,
    help: string,
    values: () => MetricValue<string>[],
    aggregator: 'sum' | 'min' = 'sum',
  ): void {
    const metric = {
      name,
      get: async () =>
        ({ name, help, type, aggregator, values: values() }) as unknown as MetricObjectWithValues<
          MetricValue<string>
        >,
      reset: () => {},
    }
    // A registry uses only the name and these two methods.
    this.registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])
  }

  gauge(name: string, help: string, value: () => number, aggregator: 'sum' | 'min' = 'sum'): void {
    this.read('gauge', name, help, () => [{ labels: {}, value: value() }], aggregator)
  }

  /** A gauge of value 1 with labels. */
  info(name: string, help: string, labels: () => Readonly<Record<string, string>>): void {
    this.read('gauge', name, help, () => [{ labels: labels(), value: 1 }])
  }

  /** A counter of what happens less often than requests. @param known values of its only label, which begin at 0 */
  counter(name: string, help: string, labelNames: string[] = [], known: readonly string[] = []): Counter {
    const counter = new Counter({ name, help, labelNames, registers: [this.registry] })
    for (const value of known) counter.inc({ [labelNames[0] ?? '']: value }, 0)
    return counter
  }
}
