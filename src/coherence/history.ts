/**
 * The store's newest changes that this process has received. They validate values of the shared cache
 * (Redis): a value counts only if it is of the same history and no received change is newer. Values older
 * than the retained changes do not count.
 *
 * Bound: {@link MAX_CHANGES} changes of some 200 bytes each.
 */

import type { NumberedChange, Position } from '../../seats-admin/model/change.ts'
import { isListed, noticeOf } from '../../seats-admin/model/revocation.ts'
import type { ChangeListener } from './feed-reading.ts'

const MAX_CHANGES = 10_000

/** A tenant id and a kind contain no NUL. Revocations that list no API keys have one key together. */
function keyOf({ tenant, kind, key }: Pick<NumberedChange, 'tenant' | 'kind' | 'key'>): string {
  return kind === 'revocation' && !isListed(noticeOf(key)) ? unlisted(tenant) : `${tenant}\0${kind}\0${key}`
}

function unlisted(tenant: string): string {
  return `${tenant}\0revocation\0`
}

export class History implements ChangeListener {
  /** seq → change, without gaps up to the head. */
  readonly #changes = new Map<number, NumberedChange>()
  /** Key → the number of its newest change, by a reading or an announcement. */
  readonly #newest = new Map<string, number>()
  /** All changes after this number, up to the head, are retained. */
  #floor = 0
  #head: Position | null = null
  /** The number of the newest announced change. */
  #announced = 0
  /** The number of the newest dropped announcement: older values do not count. */
  #minSeq = 0

  get head(): Position | null {
    return this.#head
  }

  /** The retained changes, in order, up to the head. */
  retained(): NumberedChange[] {
    return [...this.#changes.values()]
  }

  applyAnnouncement(changes: readonly NumberedChange[]): void {
    for (const change of changes) this.#record(keyOf(change), change.seq)
    // Only announcements of changes that no reading ever shows reach this bound: those of another store.
    if (this.#newest.size > 2 * MAX_CHANGES) this.#dropAnnounced()
  }

  applyReading(changes: readonly NumberedChange[] | null, head: Position): void {
    if (changes === null) this.#reset(head)
    else if (this.#head === null) this.#resetTo(head.seq - changes.length)
    for (const change of changes ?? []) this.#add(change)
    this.#head = head
  }

  /**
   * Whether the value of `key` as of `position` is as new as one read from the store now, by all changes
   * received.
   */
  isCurrent(position: Position, change: Pick<NumberedChange, 'tenant' | 'kind' | 'key'>): boolean {
    const { seq } = position
    if (this.#head === null || seq > this.#head.seq || seq < this.#floor || seq < this.#minSeq) return false
    const mark = seq === this.#head.seq ? this.#head.mark : this.#changes.get(seq)?.mark
    if (mark !== position.mark || this.#isNewer(keyOf(change), seq)) return false
    return change.kind !== 'api-key' || !this.#isNewer(unlisted(change.tenant), seq)
  }

  #isNewer(key: string, seq: number): boolean {
    return (this.#newest.get(key) ?? 0) > seq
  }

  /** Keeps what was announced, unless it belongs to a history that is gone. */
  #reset(head: Position): void {
    const before = this.#head
    this.#resetTo(head.seq)
    if (before === null || head.seq > before.seq) return
    if (head.seq === before.seq && head.mark === before.mark) return
    this.#announced = head.seq
    this.#minSeq = 0
  }

  /** No value counts until readings have caught up with the announcements. */
  #dropAnnounced(): void {
    this.#newest.clear()
    for (const change of this.#changes.values()) this.#record(keyOf(change), change.seq)
    this.#minSeq = this.#announced
  }

  /** Keeps announced changes beyond the floor. */
  #resetTo(floor: number): void {
    this.#changes.clear()
    for (const [key, seq] of this.#newest) if (seq <= floor) this.#newest.delete(key)
    this.#floor = floor
  }

  #add(change: NumberedChange): void {
    this.#changes.set(change.seq, change)
    this.#record(keyOf(change), change.seq)
    if (this.#changes.size > MAX_CHANGES) this.#dropOldest()
  }

  #record(key: string, seq: number): void {
    if (seq > (this.#newest.get(key) ?? 0)) this.#newest.set(key, seq)
    this.#announced = Math.max(this.#announced, seq)
  }

  /** Numbers are consecutive, so the oldest change is the one after the floor. */
  #dropOldest(): void {
    const oldest = this.#changes.get(++this.#floor)
    this.#changes.delete(this.#floor)
    if (oldest === undefined) return
    const key = keyOf(oldest)
    if (this.#newest.get(key) === this.#floor) this.#newest.delete(key)
  }
}
