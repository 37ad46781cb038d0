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
  readonly #inTurn: boolean
  readonly #testInterval: number
  /** Where the looking begins: behind the target picked last. */
  #next = 0
  #testedAt = -Infinity

  constructor(
    targets: readonly Target[],
    settings: Pick<UpstreamSettings, 'balance' | 'maxPending' | 'ejection'>,
  ) {
    this.#targets = targets
    this.#only = targets.length === 1 ? (targets[0] ?? null) : null
    this.#maxPending = settings.maxPending
    this.#inTurn = settings.balance === 'round-robin'
    this.#testInterval = settings.ejection.testInterval
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
    if (only?.ejection.in === true) return only.pending < this.#maxPending ? only : busy
    return (
      this.#due(now, repeatable) ??
      this.#best(null, null) ??
      (this.#anyIn ? busy : (this.#test(now) ?? unavailable))
    )
  }

  /** For a request that has been at `tried`, and before that at `before`: one that is neither. */
  other(tried: Target, before: Target | null): Target | null {
    return this.#best(tried, before)
  }

  /** Whether no target but this takes part. */
  isLast(target: Target): boolean {
    for (const each of this.#targets) if (each !== target && each.ejection.in) return false
    return true
  }

  /** Half of the places are for requests that are there whole. */
  #isFullOfUploads(): boolean {
    let uploads = 0
    for (const target of this.#targets) uploads += target.uploads
    return uploads >= (this.#maxPending * this.#targets.length) / 2
  }

  get #anyIn(): boolean {
    for (const { ejection } of this.#targets) if (ejection.in) return true
    return false
  }

  #best(tried: Target | null, before: Target | null): Target | null {
    const targets = this.#targets
    let best: Target | null = null
    let at = this.#next
    for (let left = targets.length; left > 0; left--) {
      if (at >= targets.length) at = 0
      const target = targets[at++]
      if (target === undefined || target === tried || target === before) continue
      if (!target.ejection.in || target.pending >= this.#maxPending) continue
      if (best !== null && target.pending >= best.pending) continue
      best = target
      this.#next = at
      if (this.#inTurn) break
    }
    return best
  }

  /** One that was left alone for long enough: this request finds out whether it is back. */
  #due(now: number, repeatable: boolean): Target | null {
    for (const target of this.#targets)
      if (!target.ejection.in && target.ejection.due(now, repeatable)) return target
    return null
  }

  /** None is left: some requests go through before any back-off is over, so that what is back is back at once. */
  #test(now: number): Target | null {
    if (now - this.#testedAt < this.#testInterval) return null
    let oldest: Target | null = null
    for (const target of this.#targets) {
      if (!target.ejection.testable) continue
      if (oldest === null || target.ejection.testedAt < oldest.ejection.testedAt) oldest = target
    }
    if (oldest !== null) this.#testedAt = now
    return oldest
  }
}
