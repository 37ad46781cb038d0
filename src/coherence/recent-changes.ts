/**
 * The newest changes that an instance has received since its start, for people: when, and how long each took
 * until it held everywhere. No decision depends on them.
 */

import type { NumberedChange, ObservedChange, Position } from '../../seats-admin/model/change.ts'
import { noticeOf } from '../../seats-admin/model/revocation.ts'
import type { Clock } from './clock.ts'
import type { Reading } from './feed-reading.ts'

/** Changes of a tenant that are shown. One tenant's changes never push out another's. */
const SHOWN = 200
/** Changes of a tenant that are retained: they may arrive out of order. */
const RETAINED = 2 * SHOWN

interface Recent extends Omit<ObservedChange, 'effective'> {
  readonly mark: number
  /** Whether the change is shown: the preview of a revocation has changed nothing, and is not. */
  readonly isShown: boolean
  effective: number | null
}

export class RecentChanges {
  readonly #clock: Pick<Clock, 'wall'>
  /** Tenant → seq → the change, in the order of arrival. */
  readonly #tenants = new Map<string, Map<number, Recent>>()
  #newest = 0

  constructor(clock: Pick<Clock, 'wall'>) {
    this.#clock = clock
  }

  /** The greatest number that it has received in this history. */
  get newest(): number {
    return this.#newest
  }

  /**
   * Adds the changes of a write of this instance, or of an announcement. A repeated change keeps its time.
   */
  add(changes: readonly NumberedChange[]): void {
    const at = this.#clock.wall()
    for (const change of changes) this.#add(change, at)
  }

  /**
   * Adds the changes of a reading, unless it is the first: that one has changes of any age. If a reading does
   * not say which changes it has (`changes` is null), its history may be another one, and all are dropped
   * unless its head is known.
   */
  read({ from, head, changes }: Pick<Reading, 'from' | 'head' | 'changes'>): void {
    if (changes !== null && from !== null) this.add(changes)
    if (changes !== null || this.#knows(head)) return
    this.#tenants.clear()
    this.#newest = head.seq
  }

  /** @param after ms since the commit */
  tookEffect(changes: readonly NumberedChange[], after: number): void {
    for (const { tenant, seq, mark } of changes) {
      const recent = this.#tenants.get(tenant)?.get(seq)
      if (recent?.mark === mark) recent.effective = after
    }
  }

  /** The changes of one tenant, the newest first, at most {@link SHOWN}. */
  of(tenant: string): ObservedChange[] {
    const own = [...(this.#tenants.get(tenant)?.values() ?? [])]
    const newest = own.filter(({ isShown }) => isShown).sort((a, b) => b.seq - a.seq)
    return newest.slice(0, SHOWN).map(({ seq, kind, at, effective }) => ({ seq, kind, at, effective }))
  }

  #knows({ seq, mark }: Position): boolean {
    return [...this.#tenants.values()].some((own) => own.get(seq)?.mark === mark)
  }

  #add({ tenant, seq, mark, kind, key }: NumberedChange, at: number): void {
    this.#newest = Math.max(this.#newest, seq)
    let own = this.#tenants.get(tenant)
    if (own === undefined) this.#tenants.set(tenant, (own = new Map()))
    if (own.get(seq)?.mark === mark) return
    const isShown = kind !== 'revocation' || noticeOf(key)?.count !== true
    own.set(seq, { seq, mark, kind, at, isShown, effective: null })
    const [oldest] = own.keys()
    if (own.size > RETAINED && oldest !== undefined) own.delete(oldest)
  }
}
