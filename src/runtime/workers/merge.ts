/** The merged metrics of all workers. Totals never decrease when a worker ends. */

import { AggregatorRegistry, type MetricObject, type Registry } from 'prom-client'

/** The result of `registry.getMetricsAsJSON()`, which the channel can carry. */
export type Snapshot = MetricObject[]

export class MergedMetrics {
  readonly #latest = new Map<number, Snapshot>()
  /** Counters and histograms of ended workers, from their latest snapshots. */
  #ended: Snapshot | null = null
  #adding: Promise<void> = Promise.resolve()

  update(member: number, snapshot: Snapshot): void {
    this.#latest.set(member, snapshot)
  }

  /** Sequential: each call adds to the result of the one before. */
  removeWorker(member: number): Promise<void> {
    this.#adding = this.#adding.then(() => this.#add(member))
    return this.#adding
  }

  async #add(member: number): Promise<void> {
    const last = this.#latest.get(member)
    if (last === undefined) return
    const lasting = last.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')
    const sum = this.#ended === null ? [lasting] : [this.#ended, lasting]
    this.#ended = await merged(sum).getMetricsAsJSON()
    this.#latest.delete(member)
  }

  /** In the Prometheus text format. @param own the primary's metrics */
  async text(own: Snapshot): Promise<string> {
    await this.#adding
    const all = [own, ...this.#latest.values()]
    return merged(this.#ended === null ? all : [...all, this.#ended]).metrics()
  }
}

function merged(snapshots: readonly Snapshot[]): Registry {
  return AggregatorRegistry.aggregate([...snapshots])
}
