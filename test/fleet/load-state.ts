/** The subjects and the results of a load run. Used by the writers, the readers and the checker. */

import type { Timeline } from './timeline.ts'

/** A caller whose answer changes with writes. */
export interface Subject {
  readonly headers: Readonly<Record<string, string>>
  readonly timeline: Timeline
}

/** Results of a run. Times in milliseconds. */
export class Tally {
  requests = 0
  /** Answers that no state explains, and a description of the first of them. */
  stale = 0
  readonly examples: string[] = []
  /** Decisions, by gateway. */
  readonly decided = new Map<string, number>()
  /** 503 `unavailable`, by gateway. */
  readonly unavailable = new Map<string, number>()
  /** Requests whose connection broke, by gateway. */
  readonly broken = new Map<string, number>()
  /** Latencies of the writes answered with 2xx. */
  readonly writes: number[] = []
  /** Writes without a 2xx: status or `no answer` → count. */
  readonly failed = new Map<string, number>()
  /** The same for writes whose gateway was frozen or killed meanwhile. */
  readonly interrupted = new Map<string, number>()

  quantile(part: number): number {
    const sorted = this.writes.toSorted((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  }

  line(title: string): string {
    const ms = (part: number) => `${this.quantile(part).toFixed(1)} ms`
    return [
      `${title}: ${this.requests} requests, ${this.writes.length} writes, ${this.stale} stale`,
      `503: ${shown(this.unavailable)}`,
      `broken connections: ${shown(this.broken)}`,
      `writes not 2xx: ${shown(this.failed)}, and of those sent to a gateway that was stopped: ${shown(this.interrupted)}`,
      `write median ${ms(0.5)}, p99 ${ms(0.99)}, max ${ms(1)}`,
    ].join('; ')
  }
}

export function count<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function shown(counts: ReadonlyMap<string, number>): string {
  if (counts.size === 0) return '0'
  return [...counts].map(([name, number]) => `${name} ${number}`).join(' ')
}

/** The monotonic clock of the checker, in milliseconds. */
export const now = () => performance.now()

export function pick<T>(from: readonly T[]): T {
  const picked = from[Math.floor(Math.random() * from.length)]
  if (picked === undefined) throw new Error('nothing to pick from')
  return picked
}
