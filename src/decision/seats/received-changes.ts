/**
 * How far memory has received the change feed, and what has arrived while decisions wait.
 *
 * Every value in memory is the store's as of one position of the feed: the newest change up to which all have been received, by
 * readings or by announcements. A value that the store shows as of a later position is used once the feed has been received up
 * to there. So a decision that waits for nothing is made on the state at that position. The changes that arrive
 * while a decision waits are kept, and it is made again if one of them concerns what it has read (`decision-reads.ts`).
 */

import type { ChangeKind } from '../../../seats-admin/model/change.ts'
import { ConsecutiveNumbers } from '../../lib/consecutive-numbers.ts'

/** A change that has arrived while a decision waits. */
export interface ArrivedChange {
  /** Null: any record may have changed. */
  readonly kind: ChangeKind | null
  readonly tenant: string
  readonly key: string
  /** Infinity: any number of changes. */
  readonly seq: number
  /** Its number in the order of arrival. */
  readonly at: number
}

/** A decision that waits. */
export interface Wait {
  /** The number of the first change that arrives after its beginning. */
  readonly since: number
}

/** Reads the feed up to a change. Rejects when the store can't be asked. */
export type ReadUpTo = (seq: number) => Promise<void>

export class ReceivedChanges {
  readonly #numbers = new ConsecutiveNumbers()
  readonly #readUpTo: ReadUpTo | null
  /** The decisions that wait, by their beginning. */
  readonly #waits = new Set<Wait>()
  /** The changes since the oldest of them began. */
  #arrived: ArrivedChange[] = []
  /** The number of the next change that arrives. */
  #next = 0
  #generation = 0
  /** Decisions that were made again because a record that they had read changed. */
  repeated = 0

  /** @param readUpTo null: no feed is followed, and what the store shows counts as received */
  constructor(readUpTo: ReadUpTo | null = null) {
    this.#readUpTo = readUpTo
  }

  /** The newest change up to which all have been received. */
  get position(): number {
    return this.#numbers.end
  }

  /** Increases with each announcement and with each reading of the feed, even an empty one. */
  get generation(): number {
    return this.#generation
  }

  /** Changes arrive, or the position: what was derived from memory before may not hold any more. */
  begin(): void {
    this.#generation++
  }

  /** The number of the next change that arrives. */
  get next(): number {
    return this.#next
  }

  /** @param key the id of the record; of a block, the user */
  changed(kind: ChangeKind, tenant: string, key: string, seq: number): void {
    this.#numbers.add(seq)
    this.#arrive({ kind, tenant, key, seq, at: this.#next })
  }

  /** Any record may have changed. @param seq by this change; left out: by any number of changes */
  allChanged(seq = Infinity): void {
    if (seq !== Infinity) this.#numbers.add(seq)
    this.#arrive({ kind: null, tenant: '', key: '', seq, at: this.#next })
  }

  #arrive(change: ArrivedChange): void {
    if (this.#waits.size === 0) return
    this.#next++
    this.#arrived.push(change)
    if (this.#arrived.length > MAX_ARRIVED) this.#arrived = this.#arrived.slice(-MAX_ARRIVED / 2)
  }

  /** A reading has ended here. @param isContiguous false: the feed is another one, or has a gap before */
  readTo(seq: number, isContiguous: boolean): void {
    if (isContiguous) this.#numbers.completeUpTo(seq)
    else this.#numbers.restart(seq)
  }

  /** Resolves once all changes up to this one have been received. Rejects when the store can't be asked. */
  async receive(seq: number): Promise<void> {
    if (this.position >= seq) return
    if (this.#readUpTo === null) this.#numbers.completeUpTo(seq)
    else await this.#readUpTo(seq)
  }

  /** A decision waits from now on. */
  wait(): Wait {
    const wait = { since: this.#next }
    this.#waits.add(wait)
    return wait
  }

  arrivedSince({ since }: Wait): readonly ArrivedChange[] {
    const count = this.#next - since
    if (count > this.#arrived.length) return FORGOTTEN
    return count === 0 ? NONE : this.#arrived.slice(-count)
  }

  /** The decision does not wait any more. */
  end(wait: Wait): void {
    this.#waits.delete(wait)
    const [oldest] = this.#waits
    const used = oldest === undefined ? 0 : this.#next - oldest.since
    // By halves: each change is copied once on average.
    if (used === 0) this.#arrived.length = 0
    else if (2 * used < this.#arrived.length) this.#arrived = this.#arrived.slice(-used)
  }

  /** Decisions that wait. */
  get waiting(): number {
    return this.#waits.size
  }
}

/** Changes of some 80 bytes that are kept while decisions wait. A decision that waits for longer is made again. */
const MAX_ARRIVED = 100_000

const NONE: readonly ArrivedChange[] = []
const FORGOTTEN: readonly ArrivedChange[] = [{ kind: null, tenant: '', key: '', seq: Infinity, at: Infinity }]
