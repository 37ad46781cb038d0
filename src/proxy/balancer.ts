/** Picks the target of a request, among those that take part. */

import type { Refusal } from '../model/errors.ts'
import type { Target } from './target.ts'
import { busy, unavailable } from './upstream-faults.ts'
import type { UpstreamSettings } from './upstream-options.ts'

export class Balancer {
  readonly #targets: readonly Target[]
  /** null where there are several. */
  readonly #only: Target | null
  readonly #maxPending: number
  readonly #roundRobin: boolean
  readonly #probeInterval: number
  /** Where the looking begins: behind the target picked last. */
  #next = 0
  #probedAt = -Infinity

  constructor(
    targets: readonly Target[],
    settings: Pick<UpstreamSettings, 'balance' | 'maxPending' | 'ejection'>,
  ) {
    this.#targets = targets
    this.#only = targets.length === 1 ? (targets[0] ?? null) : null
    this.#maxPending = settings.maxPending
    this.#roundRobin = settings.balance === 'round-robin'
    this.#probeInterval = settings.ejection.testInterval
  }

  /**
   * For a new request, or why there is none.
   *
   * @param now monotonic ms
   * @param repeatable see `Rotation.due`
   * @param uploads its body is still coming, and may take its time
   */
  choose(now: number, repeatable: boolean, uploads: boolean): Target | Refusal {
    const only = this.#only
    if (uploads && this.#isFullOfUploads()) return busy
    if (only?.ejection.available === true) return only.pending < this.#maxPending ? only : busy
    return (
      this.#dueForProbe(now, repeatable) ??
      this.#selectAvailable(null, null) ??
      (this.#anyAvailable ? busy : (this.#probe(now) ?? unavailable))
    )
  }

  /** For a request that has been at `tried`, and before that at `before`: one that is neither. */
  alternative(tried: Target, before: Target | null): Target | null {
    return this.#selectAvailable(tried, before)
  }

  /** Whether no target but this takes part. */
  isLast(target: Target): boolean {
    for (const each of this.#targets) if (each !== target && each.ejection.available) return false
    return true
  }

  /** Half of the places are for requests that are there whole. */
  #isFullOfUploads(): boolean {
    let uploads = 0
    for (const target of this.#targets) uploads += target.uploads
    return uploads >= (this.#maxPending * this.#targets.length) / 2
  }

  get #anyAvailable(): boolean {
    for (const { ejection } of this.#targets) if (ejection.available) return true
    return false
  }

  #selectAvailable(tried: Target | null, before: Target | null): Target | null {
    const targets = this.#targets
    let selectAvailable: Target | null = null
    let at = this.#next
    for (let left = targets.length; left > 0; left--) {
      if (at >= targets.length) at = 0
      const target = targets[at++]
      if (target === undefined || target === tried || target === before) continue
      if (!target.ejection.available || target.pending >= this.#maxPending) continue
      if (selectAvailable !== null && target.pending >= selectAvailable.pending) continue
      selectAvailable = target
      this.#next = at
      if (this.#roundRobin) break
    }
    return selectAvailable
  }

  /** One that was left alone for long enough: this request finds out whether it is back. */
  #dueForProbe(now: number, repeatable: boolean): Target | null {
    for (const target of this.#targets)
      if (!target.ejection.available && target.ejection.probeDue(now, repeatable)) return target
    return null
  }

  /** None is left: some requests go through before any back-off is over, so that what is back is back at once. */
  #probe(now: number): Target | null {
    if (now - this.#probedAt < this.#probeInterval) return null
    let oldest: Target | null = null
    for (const target of this.#targets) {
      if (!target.ejection.probeable) continue
      if (oldest === null || target.ejection.probedAt < oldest.ejection.probedAt) oldest = target
    }
    if (oldest !== null) this.#probedAt = now
    return oldest
  }
}
