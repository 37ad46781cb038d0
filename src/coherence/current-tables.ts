/**
 * Whether a process decides by the tables of the store that the feed shows. `lease.ts` describes the protocol:
 * each activation of tables is a change. A process whose tables are not those of the newest one decides
 * nothing until they are read from the store.
 */

import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { tablesNoticeOf } from '../../seats-admin/model/tables-version.ts'
import type { FilesReader } from './current-files.ts'
import type { ChangeListener } from './feed-reading.ts'
import type { Lease } from './lease.ts'

/** A version of the tables, and the number of a change: nothing up to that one has activated another. */
export interface TablesAsOf {
  readonly version: number
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

export class CurrentTables implements ChangeListener {
  readonly #tenant: string
  readonly #lease: Pick<Lease, 'live' | 'renewed' | 'readUpTo' | 'received'>
  readonly #reader: FilesReader & TablesReader
  readonly #activated: (mark: number) => void
  /** The version by which the process decides. */
  #active: number
  /** The newest activation that has arrived, or that the store has shown; null: none. */
  #required: TablesAsOf | null = null
  /** Whether the store was read since the history began. Before that, an activation may not have arrived. */
  #isKnown = false
  /** Increases when the history may be another one: what was read before that does not count. */
  #history = 0
  /** Activations that have arrived, and whose version is not active yet. */
  #pending: { readonly version: number; readonly mark: number }[] = []

  /**
   * @param tenant the tenant of the tables
   * @param version the version with which the process starts
   * @param activated called with the mark of an activation once the process decides by its version or a later
   *   one
   */
  constructor(
    { tenant, version }: { readonly tenant: string; readonly version: number },
    lease: Pick<Lease, 'live' | 'renewed' | 'readUpTo' | 'received'>,
    reader: FilesReader & TablesReader,
    activated: (mark: number) => void,
  ) {
    this.#tenant = tenant
    this.#active = version
    this.#lease = lease
    this.#reader = reader
    this.#activated = activated
  }

  /** The process decides by this version from now on. */
  activate(version: number): void {
    this.#active = version
    const due = this.#pending.filter((each) => each.version <= version)
    this.#pending = this.#pending.filter((each) => each.version > version)
    for (const { mark } of due) this.#activated(mark)
  }

  applyAnnouncement(changes: readonly NumberedChange[]): void {
    for (const change of changes)
      if (change.kind === 'tables' && change.tenant === this.#tenant) this.#require(change)
  }

  applyReading(changes: readonly NumberedChange[] | null): void {
    if (changes !== null) return this.applyAnnouncement(changes)
    this.#pending = []
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
    const { version } = notice
    if (version > this.#active) this.#pending.push({ version, mark })
    else this.#activated(mark)
    // Also before the store was read: a reading in flight may be of a state before this activation.
    this.#show({ version, seq })
  }

  /** Activations arrive in any order, and a reading may be late. */
  #show(tables: TablesAsOf): void {
    if (this.#required === null || this.#required.seq <= tables.seq) this.#required = tables
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

  /** Whether the active version is the one by which the process must decide. */
  get #isRequired(): boolean {
    return this.#isKnown && this.#required?.version === this.#active
  }

  /**
   * Resolves once a request that started before the call may be decided. Rejects when the store can't be read,
   * or the tables can't be used.
   */
  async check(): Promise<void> {
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
