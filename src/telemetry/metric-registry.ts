/** Metrics in the Prometheus text format. The only file that imports prom-client. */

import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Histogram,
  type MetricObject,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'

export type { Registry }

/** One value of a metric, with its labels. */
export type Sample = MetricValue<string>

/** All metrics of a registry as data, which the channel between processes can carry. */
export type Snapshot = MetricObject[]

/** All metrics of the registries, as text. Their names differ. */
export function textOf(registries: readonly Registry[]): Promise<string> {
  return Registry.merge([...registries]).metrics()
}

/** The metrics of several processes as one: each metric by its aggregator. */
export function aggregated(snapshots: readonly Snapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots])
}

/** The metrics of a part of the gateway. */
export class MetricRegistry {
  readonly registry = new Registry()

  /**
   * Adds a metric whose values are read at each scrape. The interface of prom-client has no such metric: its
   * counters take one value at a time (5 to 90 ms of the event loop with 10,000 routes), and its histograms
   * take no buckets.
   *
   * @param aggregator merges the values of several workers
   */
  read(
    type: 'counter' | 'gauge' | 'histogram',
    name: string,
    help: string,
    values: () => Sample[],
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

  histogram(name: string, help: string, buckets: number[], labelNames: string[] = []): Histogram {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] })
  }

  /** The metrics of the process and of Node.js. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.registry })
  }

  /**
   * A counter of what happens less often than requests.
   *
   * @param values the values of its only label, which begin at 0
   */
  counter(name: string, help: string, labelNames: string[] = [], values: readonly string[] = []): Counter {
    const counter = new Counter({ name, help, labelNames, registers: [this.registry] })
    for (const value of values) counter.inc({ [labelNames[0] ?? '']: value }, 0)
    return counter
  }
}
