/**
 * The newest changes of the store, as far as this process has heard of them. It judges whether a value that others
 * have read and kept (in Redis) still counts: only if it is of this history, and nothing that this process has heard of
 * changed it since. What is older than the changes remembered can't be judged and doesn't count.
 *
 * Bound: {@link MAX_CHANGES} changes, some 200 bytes each.
 */

import type { NumberedChange, Position } from '../../seats-admin/model/change.ts'
import type { ChangeListener } from './change.ts'

const MAX_CHANGES = 10_000

/** A tenant id and a kind have no NUL. */
function keyOf({ tenant, kind, key }: Pick<NumberedChange, 'tenant' | 'kind' | 'key'>): string {
  return `${tenant}\0${kind}\0${key}`
}

export class History implements ChangeListener {
  /** seq → change; of a row without gaps, up to the head. */
  readonly #changes = new Map<number, NumberedChange>()
  /** Key → its newest change, by reading or by message. */
  readonly #newest = new Map<string, number>()
  /** All changes after this number, up to the head, are remembered. */
  #floor = 0
  #head: Position | null = null
  /** The newest that messages have told. */
  #heard = 0
  /** Values older than this don't count: what messages told up to it has been forgotten. */
  #blind = 0

  get head(): Position | null {
    return this.#head
  }

  /** All that is remembered, in order, up to the head. */
  recent(): NumberedChange[] {
    return [...this.#changes.values()]
  }

  announced(changes: readonly NumberedChange[]): void {
    for (const change of changes) this.#note(keyOf(change), change.seq)
    // Only messages of changes that never come by a reading do this: those of another store.
    if (this.#newest.size > 2 * MAX_CHANGES) this.#forgetHeard()
  }

  take(changes: readonly NumberedChange[] | null, head: Position): void {
    if (changes === null) this.#startOver(head)
    else if (this.#head === null) this.#begin(head.seq - changes.length)
    for (const change of changes ?? []) this.#add(change)
    this.#head = head
  }

  /** The value of `key`, read as of `position`, is as good as one read from the store now, as far as we have heard. */
  counts(position: Position, change: Pick<NumberedChange, 'tenant' | 'kind' | 'key'>): boolean {
    const { seq } = position
    if (this.#head === null || seq > this.#head.seq || seq < this.#floor || seq < this.#blind) return false
    const mark = seq === this.#head.seq ? this.#head.mark : this.#changes.get(seq)?.mark
    return mark === position.mark && (this.#newest.get(keyOf(change)) ?? 0) <= seq
  }

  /** What messages have told stays told, unless it was of a history that is gone. */
  #startOver(head: Position): void {
    const before = this.#head
    this.#begin(head.seq)
    if (before === null || head.seq > before.seq) return
    if (head.seq === before.seq && head.mark === before.mark) return
    this.#heard = head.seq
    this.#blind = 0
  }

  /** Nothing counts until readings have come as far as messages have told. */
  #forgetHeard(): void {
    this.#newest.clear()
    for (const change of this.#changes.values()) this.#note(keyOf(change), change.seq)
    this.#blind = this.#heard
  }

  /** What messages have told beyond the floor stays known. */
  #begin(floor: number): void {
    this.#changes.clear()
    for (const [key, seq] of this.#newest) if (seq <= floor) this.#newest.delete(key)
    this.#floor = floor
  }

  #add(change: NumberedChange): void {
    this.#changes.set(change.seq, change)
    this.#note(keyOf(change), change.seq)
    if (this.#changes.size > MAX_CHANGES) this.#forgetOldest()
  }

  #note(key: string, seq: number): void {
    if (seq > (this.#newest.get(key) ?? 0)) this.#newest.set(key, seq)
    this.#heard = Math.max(this.#heard, seq)
  }

  /** Numbers are in a row, so the oldest is the one after the floor. */
  #forgetOldest(): void {
    const oldest = this.#changes.get(++this.#floor)
    this.#changes.delete(this.#floor)
    if (oldest === undefined) return
    const key = keyOf(oldest)
    if (this.#newest.get(key) === this.#floor) this.#newest.delete(key)
  }
}
