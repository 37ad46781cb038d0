/**
 * Whether a process decides by the tables of the store that the feed shows. `lease.ts` describes the protocol:
 * each activation of tables is a change. A process whose tables are not those of the newest one decides
 * nothing until they are read from the store.
 */

import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { isSameTableSet, type TableSet, tablesNoticeOf } from '../../seats-admin/model/tables-version.ts'
import { ignore } from '../lib/ignore.ts'
import { type Clock, withinTime } from './clock.ts'
import type { FilesReader } from './current-files.ts'
import type { ChangeListener } from './feed-reading.ts'
import type { Lease } from './lease.ts'

/** Tables, and the number of a change: nothing up to that one has activated others. */
export interface TablesAsOf extends TableSet {
  readonly seq: number
}

/** Has the tables of the store read. */
export interface TablesReader {
  /**
   * Resolves once the process decides by the tables as they were at a moment after the call. Rejects when the
   * store can't be read, or the tables can't be used.
   */
  checkTables(): Promise<TablesAsOf>
}

/** The most readings of tables that change again and again. */
const READINGS = 3
/**
 * Milliseconds that a request waits in all. Each of its readings has a shorter bound, but a slow store could
 * delay one after the other, and requests would pile up for half a minute.
 */
export const CURRENT_WITHIN = 5000
/** The newest activations that are known: each one arrives by messages and by readings. */
const MAX_KNOWN = 100

export class CurrentTables implements ChangeListener {
  readonly #tenant: string
  readonly #lease: Pick<Lease, 'live' | 'renewed' | 'readUpTo' | 'received'>
  readonly #reader: FilesReader & TablesReader
  readonly #activated: (mark: number) => void
  readonly #clock: Pick<Clock, 'after'>
  /** The tables by which the process decides. */
  #active: TableSet
  /** The newest activation that has arrived, or that the store has shown; null: none. */
  #required: TablesAsOf | null = null
  /** Whether the store was read since the history began. Before that, an activation may not have arrived. */
  #isKnown = false
  /** Increases when the history may be another one: what was read before that does not count. */
  #history = 0
  /** The marks of the activations that have arrived. */
  readonly #arrived = new Set<number>()
  /** The marks of those after which the process does not decide by the newest one yet. */
  #pending: number[] = []

  /**
   * @param start the tables with which the process starts, and their tenant
   * @param activated called with the mark of an activation once the process decides by its tables or by later
   *   ones
   */
  constructor(
    { tenant, version, digest }: TableSet & { readonly tenant: string },
    lease: Pick<Lease, 'live' | 'renewed' | 'readUpTo' | 'received'>,
    reader: FilesReader & TablesReader,
    activated: (mark: number) => void,
    clock: Pick<Clock, 'after'>,
  ) {
    this.#tenant = tenant
    this.#active = { version, digest }
    this.#lease = lease
    this.#reader = reader
    this.#activated = activated
    this.#clock = clock
  }

  /** The process decides by these tables from now on. */
  activate(tables: TableSet): void {
    this.#active = tables
    this.#settle()
  }

  #settle(): void {
    if (!this.#isNewest) return
    const due = this.#pending
    this.#pending = []
    for (const mark of due) this.#activated(mark)
  }

  applyAnnouncement(changes: readonly NumberedChange[]): void {
    for (const change of changes)
      if (change.kind === 'tables' && change.tenant === this.#tenant) this.#require(change)
  }

  applyReading(changes: readonly NumberedChange[] | null): void {
    if (changes !== null) return this.applyAnnouncement(changes)
    this.#arrived.clear()
    this.#forget()
  }

  #forget(): void {
    this.#history++
    this.#isKnown = false
    this.#required = null
  }

  #require({ key, seq, mark }: NumberedChange): void {
    const notice = tablesNoticeOf(key)
    // One of a newer version of this program, which an instance of this one does not take part in.
    if (notice === null) return this.#forget()
    if (this.#arrived.has(mark)) return
    this.#arrived.add(mark)
    const [oldest] = this.#arrived
    if (this.#arrived.size > MAX_KNOWN && oldest !== undefined) this.#arrived.delete(oldest)
    this.#pending.push(mark)
    if (seq < (this.#required?.seq ?? 0)) return this.#readAgain()
    // Also before the store was read: a reading in flight may be of a state before this activation.
    this.#show({ version: notice.version, digest: notice.digest, seq })
  }

  /**
   * A message with a lower number was late, or a store that was restored counts from there: its activation is
   * then the newest, although the restored feed has not been read yet.
   */
  #readAgain(): void {
    this.#forget()
    this.#read().catch(ignore)
  }

  /** Activations arrive in any order, and a reading may be late. */
  #show(tables: TablesAsOf): void {
    if (this.#required === null || this.#required.seq <= tables.seq) this.#required = tables
    this.#settle()
  }

  /** Whether a request that starts now may be decided by the active tables. */
  areCurrent(): boolean {
    return this.#lease.live() && !this.areReplaced()
  }

  /**
   * Whether memory is of a state with other tables than the active ones. A request that was let through
   * before, and has waited since, must not be decided by them: with a Seat that was read later, they could
   * allow what no state allows.
   */
  areReplaced(): boolean {
    // Before the changes up to the activation have arrived, memory is of an earlier state than the tables.
    return !this.#isRequired || (this.#required?.seq ?? 0) > this.#lease.received
  }

  /** Whether the active tables are the ones by which the process must decide. */
  get #isRequired(): boolean {
    return this.#isKnown && this.#isNewest
  }

  /** Whether the active tables are the newest that are known. */
  get #isNewest(): boolean {
    return this.#required !== null && isSameTableSet(this.#required, this.#active)
  }

  /**
   * Resolves once a request that started before the call may be decided. Rejects when the store can't be read,
   * or the tables can't be used, at the latest after {@link CURRENT_WITHIN}.
   */
  check(): Promise<void> {
    return withinTime(this.#clock, CURRENT_WITHIN, this.#check(), 'the store responds too slowly')
  }

  async #check(): Promise<void> {
    if (!this.#lease.live()) {
      await this.#reader.checkFiles()
      await this.#lease.renewed()
    }
    for (let readings = 0; readings < READINGS; readings++) {
      if (this.#isRequired) {
        await this.#lease.readUpTo(this.#required?.seq ?? 0)
        if (!this.areReplaced()) return
      }
      await this.#read()
    }
    if (this.areReplaced()) throw new Error('the tables of the store are not active yet')
  }

  async #read(): Promise<void> {
    const history = this.#history
    const read = await this.#reader.checkTables()
    if (history !== this.#history) return
    this.#isKnown = true
    this.#show(read)
  }
}
