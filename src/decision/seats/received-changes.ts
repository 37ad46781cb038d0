/**
 * The position up to which memory has received the change feed, and the changes that have arrived while
 * decisions wait.
 *
 * Every value in memory is the store's as of one position of the feed: the newest change up to which all have
 * been received, by readings or by announcements. A value that the store shows as of a later position is used
 * once the feed has been received up to there. So a decision that waits for nothing is made on the state at
 * that position. The changes that arrive while a decision waits are kept, and it is made again if one of them
 * concerns what it has read (`decision-reads.ts`).
 */

import type { ChangeKind } from '../../../seats-admin/model/change.ts'
import { ConsecutiveNumbers } from '../../lib/consecutive-numbers.ts'

/** A change that has arrived while decisions wait. */
interface ArrivedChange {
  /** Null: any record may have changed. */
  readonly kind: ChangeKind | null
  readonly tenant: string
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

/** A record that a decision has read. */
export interface ReadRecord {
  readonly kind: ChangeKind
  readonly tenant: string
  readonly key: string
  /** The position of the change feed at which it was read; Infinity while it is being read. */
  readonly asOf: number
  /** The number of the first change that arrived after it was read from memory, or asked for. */
  readonly since: number
}

/**
 * The most changes, of some 100 bytes, that are kept while decisions wait. A decision that waits for longer
 * is made again.
 */
const MAX_ARRIVED = 100_000

/** Reads the feed up to a change. Rejects if the store can't be asked. */
type ReadUpTo = (seq: number) => Promise<void>

export class ReceivedChanges {
  readonly #numbers = new ConsecutiveNumbers()
  readonly #readUpTo: ReadUpTo | null
  /** The decisions that wait, by their beginning. */
  readonly #waits = new Set<Wait>()
  /** The changes since the oldest of them began, by key; null: those that may concern any. */
  readonly #arrived = new Map<string | null, ArrivedChange[]>()
  /** Those of them that may concern any record of their kind, by tenant. */
  readonly #arrivedWide = new Map<string, ArrivedChange[]>()
  /** The numbers of the oldest change that is kept, and of the next one that arrives. */
  #oldest = 0
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

  /** An announcement or a reading arrives: results that were derived from memory before may be wrong now. */
  startGeneration(): void {
    this.#generation++
  }

  /** The number of the next change that arrives. */
  get next(): number {
    return this.#next
  }

  /** @param key the id of the record; of a block or a revocation of a user, the user */
  changed(kind: ChangeKind, tenant: string, key: string, seq: number): void {
    this.#numbers.add(seq)
    this.#arrive(this.#arrived, key, { kind, tenant, seq })
  }

  /** Any record of the kind may have changed in the tenant. */
  changedWide(kind: ChangeKind, tenant: string, seq: number): void {
    this.#numbers.add(seq)
    this.#arrive(this.#arrivedWide, tenant, { kind, tenant, seq })
  }

  /** A change that concerns no record of memory. */
  unchanged(seq: number): void {
    this.#numbers.add(seq)
  }

  /**
   * Any record may have changed.
   *
   * @param seq by this change; left out: by any number of changes
   */
  allChanged(seq = Infinity): void {
    if (seq !== Infinity) this.#numbers.add(seq)
    this.#arrive(this.#arrived, null, { kind: null, tenant: '', seq })
  }

  #arrive<K>(arrived: Map<K, ArrivedChange[]>, key: K, change: Omit<ArrivedChange, 'at'>): void {
    if (this.#waits.size === 0) return
    const numbered = { ...change, at: this.#next++ }
    const same = arrived.get(key)
    if (same === undefined) arrived.set(key, [numbered])
    else same.push(numbered)
    if (this.#next - this.#oldest > MAX_ARRIVED) this.#forgetBefore(this.#next - MAX_ARRIVED / 2)
  }

  /**
   * A reading has ended here.
   *
   * @param isContiguous false: the feed is another one, or has a gap before
   */
  readTo(seq: number, isContiguous: boolean): void {
    if (isContiguous) this.#numbers.completeUpTo(seq)
    else this.#numbers.restart(seq)
  }

  /** Resolves once all changes up to this one have been received. Rejects if the store can't be asked. */
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

  /**
   * Whether one of the records may have changed since the decision began to wait, after the record was read.
   */
  concerns({ since }: Wait, records: Iterable<ReadRecord>): boolean {
    if (since === this.#next) return false
    if (since < this.#oldest) return true
    for (const record of records) if (this.#hasChanged(record)) return true
    return false
  }

  #hasChanged({ kind, tenant, key, asOf, since }: ReadRecord): boolean {
    const isLater = ({ seq, at }: ArrivedChange) => seq > asOf && at >= since
    if (this.#arrived.get(null)?.some(isLater) === true) return true
    const isOfRecord = (it: ArrivedChange) => it.kind === kind && it.tenant === tenant && isLater(it)
    return [this.#arrived.get(key), this.#arrivedWide.get(tenant)].some((all) => all?.some(isOfRecord))
  }

  /** The decision no longer waits. */
  end(wait: Wait): void {
    this.#waits.delete(wait)
    const [oldest] = this.#waits
    const used = this.#next - (oldest?.since ?? this.#next)
    // By halves: each change is looked at once more on average.
    if (2 * used <= this.#next - this.#oldest) this.#forgetBefore(this.#next - used)
  }

  #forgetBefore(oldest: number): void {
    this.#oldest = oldest
    forgetBefore(oldest, this.#arrived)
    forgetBefore(oldest, this.#arrivedWide)
  }

  /** Decisions that wait. */
  get waiting(): number {
    return this.#waits.size
  }
}

function forgetBefore<K>(oldest: number, arrived: Map<K, ArrivedChange[]>): void {
  for (const [key, changes] of arrived) {
    const rest = changes.filter(({ at }) => at >= oldest)
    if (rest.length === 0) arrived.delete(key)
    else arrived.set(key, rest)
  }
}
