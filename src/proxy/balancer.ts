/** Selects the target of a request among the available ones. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Refusal } from '../model/errors.ts'
import type { Target } from './target.ts'
import { busy, unavailable } from './upstream-faults.ts'
import type { EjectionSettings } from './upstream-options.ts'

export class Balancer {
  readonly #targets: readonly Target[]
  /** null with several targets. */
  readonly #only: Target | null
  readonly #maxPending: number
  readonly #roundRobin: boolean
  readonly #probeInterval: number
  /** The start of the next search: after the last selected target. */
  #next = 0
  #probedAt = -Infinity

  constructor(
    targets: readonly Target[],
    { balance, maxPending }: Pick<UpstreamConfig, 'balance' | 'maxPending'>,
    { testInterval }: EjectionSettings,
  ) {
    this.#targets = targets
    this.#only = targets.length === 1 ? (targets[0] ?? null) : null
    this.#maxPending = maxPending
    this.#roundRobin = balance === 'round-robin'
    this.#probeInterval = testInterval
  }

  /**
   * The target of a new request, or the refusal.
   *
   * @param now monotonic ms
   * @param repeatable see `OutlierEjection.probeDue`
   * @param uploads the body is still arriving, perhaps slowly
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

  /** The target for a retry: neither `tried` nor the one before it. */
  alternative(tried: Target, before: Target | null): Target | null {
    return this.#selectAvailable(tried, before)
  }

  /** Whether no other target is available. */
  isLast(target: Target): boolean {
    for (const each of this.#targets) if (each !== target && each.ejection.available) return false
    return true
  }

  /** Half of the capacity is reserved for requests that arrived completely. */
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
    for (let remaining = targets.length; remaining > 0; remaining--) {
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

  /** A target whose ejection time is over: this request probes it. */
  #dueForProbe(now: number, repeatable: boolean): Target | null {
    for (const target of this.#targets)
      if (!target.ejection.available && target.ejection.probeDue(now, repeatable)) return target
    return null
  }

  /**
   * No target is available. One request in each interval probes a target before its ejection time is over, for a quick
   * recovery.
   */
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
