/**
 * The instances that a revocation reaches, for its answer: this one, those that the store listed after the
 * commit, and what each of them has said. `lease.ts` describes what that proves.
 */

import type { Committed } from '../../seats-admin/model/change.ts'
import type { ReachableInstance } from '../../seats-admin/model/registered-instance.ts'
import type { OpenCounts, ReachedInstance } from '../../seats-admin/model/revocation.ts'
import type { InstanceIdentity } from './feeds.ts'

type Named = Pick<ReachedInstance, 'id' | 'name' | 'understands'>

/** Stands for all others if the list can't be read: the revocation may not have reached them. */
const NOT_LISTED: Named = {
  id: 'unknown',
  name: 'other instances: the store did not list them',
  understands: true,
}

export class ReachedInstances {
  readonly #own: Named
  readonly #commit: Committed
  readonly #elapsed: () => number
  #complete = (): void => {}
  /** Those of the first list after the commit; null before that. */
  #others: readonly Named[] | null = null
  /** Instance → ms from the commit until it decided by the revocation. */
  readonly #acknowledged = new Map<string, number>()
  /** Instance → what it has cut. */
  readonly #cuts = new Map<string, OpenCounts | null>()
  /** The ms after which no earlier lease was live; null: not yet. */
  #decidedAt: number | null = null

  /** @param elapsed ms since the commit */
  constructor({ id, name }: Pick<InstanceIdentity, 'id' | 'name'>, commit: Committed, elapsed: () => number) {
    this.#own = { id, name, understands: true }
    this.#commit = commit
    this.#elapsed = elapsed
  }

  acknowledged(id: string): void {
    if (!this.#acknowledged.has(id)) this.#acknowledged.set(id, this.#elapsed())
    this.#check()
  }

  /** What an instance says twice counts once. It has applied the revocation by then. */
  said(id: string, cut: OpenCounts | null): void {
    if (!this.#cuts.has(id)) this.#cuts.set(id, cut)
    this.acknowledged(id)
  }

  /**
   * An instance that only a later list has registered after the commit, and decides by it. One that is gone
   * may be frozen, and have a stream open: it is named, so that nothing is claimed of it.
   */
  listed(others: readonly ReachableInstance[]): void {
    this.#others ??= others.map(({ id, name, understands, gone }) => ({
      id,
      name,
      understands: gone || understands?.includes('revocation') === true,
    }))
    for (const { id, applied, cuts } of others) {
      const report = cuts.find(({ mark }) => mark === this.#commit.mark)
      if (report !== undefined) this.said(id, report.cut)
      else if (applied >= this.#commit.seq) this.acknowledged(id)
    }
    this.#check()
  }

  /** Resolves once each instance that has acknowledged has said what it has cut. */
  decided(): Promise<void> {
    this.#decidedAt = this.#elapsed()
    return new Promise((resolve) => {
      this.#complete = resolve
      this.#check()
    })
  }

  /** This instance first. */
  get all(): readonly ReachedInstance[] {
    return [this.#own, ...(this.#others ?? [NOT_LISTED])].map((instance) => {
      const ms = this.#acknowledged.get(instance.id)
      if (ms === undefined)
        return { ...instance, how: 'lease_ended', ms: this.#decidedAt ?? this.#elapsed(), cut: null }
      return { ...instance, how: 'acknowledged', ms, cut: this.#cuts.get(instance.id) ?? null }
    })
  }

  #check(): void {
    if (this.#decidedAt === null) return
    // An older version says nothing of it.
    const isMissing = [this.#own, ...(this.#others ?? [])].some(
      ({ id, understands }) => understands && this.#acknowledged.has(id) && !this.#cuts.has(id),
    )
    if (!isMissing) this.#complete()
  }
}
