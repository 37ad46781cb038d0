/** The metrics of all workers as those of one process tree. Totals never step back when a worker ends. */

import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client'

/** What `registry.getMetricsAsJSON()` gives, and a channel carries. */
export type Snapshot = MetricObject[]

export class MergedMetrics {
  readonly #latest = new Map<number, Snapshot>()
  /** Counters and histograms of those that have ended, as of when they were last asked. */
  #ended: Snapshot | null = null

  /** @param member the worker's number */
  heard(member: number, snapshot: Snapshot): void {
    this.#latest.set(member, snapshot)
  }

  async ended(member: number): Promise<void> {
    const last = this.#latest.get(member)
    this.#latest.delete(member)
    if (last === undefined) return
    const lasting = last.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')
    this.#ended = await merged(this.#ended === null ? [lasting] : [this.#ended, lasting]).getMetricsAsJSON()
  }

  /** In the Prometheus text format. @param own the primary's */
  text(own: Snapshot): Promise<string> {
    const all = [own, ...this.#latest.values()]
    return merged(this.#ended === null ? all : [...all, this.#ended]).metrics()
  }
}

function merged(snapshots: readonly Snapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots])
}
