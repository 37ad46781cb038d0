/**
 * A model of the PostgreSQL store: serialized commits with numbered changes, and the list of instances. The snapshot of a
 * statement and its effect are separate events; `store-client.ts` schedules them.
 */

import {
  type Change,
  CHANGE_KINDS,
  type Committed,
  type NumberedChange,
  type Position,
} from '../../../seats-admin/model/change.ts'
import type { CutReport, ReachableInstance } from '../../../seats-admin/model/registered-instance.ts'
import type { Renewal } from '../../../seats-admin/index.ts'
import type { AdminRefusal } from '../../../seats-admin/model/refusal.ts'
import {
  type ActiveTables,
  NO_TABLES,
  type TableFiles,
  type TablesNotice,
  tablesDigest,
  type TablesVersion,
} from '../../../seats-admin/model/tables-version.ts'
import type { SameTables, TablesCandidate } from '../../../seats-admin/store/tables-store.ts'
import type { Written } from '../../../seats-admin/store/writer.ts'
import type { Context } from './context.ts'
import type { RevocationNotice, RevocationSubject } from '../../../seats-admin/model/revocation.ts'
import {
  ALL_RECORDS,
  BLOCK,
  CUTOFFS,
  ISSUER,
  MEMBER,
  NAMES,
  NEW_SESSIONS,
  NO_CUTOFFS,
  NO_TERM,
  OWNED_KEY,
  SEATS,
  SESSION,
  SESSIONS,
  TABLES_RECORD,
  TENANT,
  tagOf,
  type Cutoffs,
  type StoredRecord,
  type Term,
  type Version,
} from './records.ts'
import type { Schedule } from './schedule.ts'
import { permissionIn, readFiles, tablesOf } from './tables.ts'

/** As in the real store: a reader that is further behind gets no changes, and drops everything. */
const MAX_CHANGES = 5000

export interface FeedState {
  readonly head: Position
  readonly changes: readonly NumberedChange[] | null
}

/** A row of the list. An instance that is removed and registers again gets a new row. */
export interface InstanceRow {
  readonly id: string
  beat: number
  applied: number
  cuts: readonly CutReport[]
  onList: boolean
}

/** One commit. */
export interface Write {
  readonly records: readonly StoredRecord[]
  /** Those of the records that it deletes. */
  readonly deletes: readonly StoredRecord[]
  /** Whether the Seats exchange their names: both must be among the records. */
  readonly swaps?: boolean
  /** Number of changes by others in the same commit. */
  readonly further?: number
  /** Of a grant. */
  readonly term?: Term
  /** Whether its changes name the tenant alone, as that of a group's name does. */
  readonly isWide?: boolean
}

export interface Revocation {
  readonly subject: keyof Cutoffs
  /** Whether it blocks the user too. */
  readonly blocks: boolean
  /** Whether each session that it ends has a change of its own. */
  readonly lists: boolean
}

/** Tables that instances answer. */
export interface Candidate {
  readonly files: TableFiles
  /** The version that was active when they were proposed. */
  readonly base: number
  readonly answers: Map<string, string>
}

const BY = { kind: 'command', id: 'simulation', name: 'simulation' } as const

const MISSING: Version = {
  ...{ seq: 0, tag: 0, exists: false, other: null, renewAt: 0 },
  ...{ revives: false, revoked: false, cutoffs: NO_CUTOFFS, term: NO_TERM, tables: null },
}

export class Database {
  readonly rows = new Map<string, InstanceRow>()
  /** The instances that were removed for their silence, and have not registered again. */
  readonly #gone = new Set<string>()
  /**
   * Ends of the session that are being announced. A request may wait for the renewal that ended it, and the session of the product does
   * not come back: here it does, but not meanwhile.
   */
  announcedEnds = 0
  /** Tables that are proposed. */
  readonly candidates = new Map<string, Candidate>()
  /** Called as tables are proposed, and as they are activated. */
  onTables: (step: 'proposed' | 'activated', candidate: Candidate) => void = () => {}
  /** Milliseconds that the clock of the store is ahead of the true time. */
  clockStep = 0
  /** Number of rows removed from the list. */
  removed = 0
  /** Whether the blocks of the tenant are too many to be read as a whole. */
  readonly hasManyBlocks: boolean
  readonly #context: Context
  /** Number of changes kept; a reader that is further behind gets none. */
  readonly #kept: number
  readonly #changes: NumberedChange[] = []
  readonly #versions = new Map<StoredRecord, Version[]>()
  /** Seat → its name. */
  readonly #names = new Map(SEATS.map((seat, at) => [seat, NAMES[at] ?? seat]))
  #head: Position = { seq: 0, mark: 0 }
  /** Wall-clock ms until which a renewal of the session is claimed. */
  #claimedUntil = 0

  constructor(context: Context, { kept, hasManyBlocks }: Pick<Schedule, 'kept' | 'hasManyBlocks'>) {
    this.#context = context
    this.hasManyBlocks = hasManyBlocks
    this.#kept = kept
  }

  /** The time of the store, in ms. Its clock may be wrong, but runs as time does. */
  get now(): number {
    return this.#context.timeline.now + this.clockStep
  }

  get head(): Position {
    return this.#head
  }

  commit({ records, deletes, swaps = false, further = 0, term = NO_TERM, isWide = false }: Write): Committed {
    if (swaps) this.#swapNames()
    const committed = this.#number([
      ...othersOf(further),
      ...records.flatMap((record) => this.#changesOf(record, isWide)),
    ])
    const { seq } = committed
    for (const record of records) {
      // Each write of a block makes or ends it: two alike could not be told apart.
      const ends = deletes.includes(record) || (record === SESSION && this.announcedEnds > 0)
      const exists = record.kind === 'block' ? !this.current(record).exists : !ends
      const name = this.#names.get(record) ?? null
      const version = { ...MISSING, seq, tag: seq, exists, other: name, term }
      const { timeline, random } = this.#context
      this.#add(record, { ...version, renewAt: timeline.now + random.between(200, 2500) })
      if (name !== null) this.#add(name, { ...version, other: record })
    }
    return committed
  }

  /**
   * Everything that the subject was given up to now is void.
   *
   * @param now ms by the clock of the writer
   */
  revoke({ subject, blocks, lists }: Revocation, now: number): Committed {
    const at = Math.max(this.#context.timeline.now, now)
    const sessions = subject === 'issuer' ? [] : SESSIONS.filter((each) => this.current(each).exists)
    const keys = subject === 'user' && this.current(OWNED_KEY).exists ? [OWNED_KEY] : []
    const blocked = blocks && subject === 'user' ? [BLOCK] : []
    const listed = lists ? sessions : []
    const committed = this.#number([
      noticeOf({ at, subject: SUBJECTS[subject], ...(lists && { listed: true }) }),
      ...[...listed, ...keys, ...blocked].flatMap((record) => this.#changesOf(record)),
    ])
    const { seq } = committed
    for (const record of [...sessions, ...keys])
      this.#add(record, { ...MISSING, seq, tag: seq, revoked: true })
    for (const record of blocked) this.#add(record, { ...MISSING, seq, tag: seq, exists: true })
    const { cutoffs } = this.current(CUTOFFS)
    const cutoff = Math.max(cutoffs[subject], Math.floor(at / 1000))
    this.#add(CUTOFFS, {
      ...MISSING,
      seq,
      tag: seq,
      exists: true,
      cutoffs: { ...cutoffs, [subject]: cutoff },
    })
    return committed
  }

  /** A new session, which is no change of a record that memory has. Null: there are enough. */
  signIn(): { readonly session: StoredRecord; readonly seq: number } | null {
    const session = NEW_SESSIONS.find((each) => !this.#versions.has(each))
    if (session === undefined) return null
    const { seq } = this.#head
    this.#add(session, { ...MISSING, seq, tag: seq, exists: true, renewAt: Infinity })
    return { session, seq }
  }

  /** What the tables require in one state; null: they are in files. */
  permissionAt(seq: number): string | null {
    const { tables } = this.versionAt(TABLES_RECORD, seq)
    return tables && permissionIn(tables.files)
  }

  get tables(): ActiveTables {
    return this.current(TABLES_RECORD).tables ?? NO_TABLES
  }

  /** Before the first gateway. */
  beginTables(files: TableFiles): void {
    this.#addTables(this.#number(othersOf(1)).seq, tablesOf(1, files))
  }

  propose(files: TableFiles): Written<TablesCandidate | SameTables> {
    const { version, digest } = this.tables
    if (tablesDigest(files) === digest)
      return { ...this.#head, changes: [], value: { id: null, base: version } }
    const id = `candidate ${this.#head.seq + 1}`
    const candidate = { files, base: version, answers: new Map<string, string>() }
    this.candidates.set(id, candidate)
    const committed = this.#number([{ tenant: TENANT, kind: 'tables-candidate', key: id }])
    this.onTables('proposed', candidate)
    return { ...committed, value: { id, base: version } }
  }

  activate(id: string): Written<TablesVersion> | AdminRefusal {
    const candidate = this.candidates.get(id)
    if (candidate === undefined || candidate.base !== this.tables.version)
      return { refused: 'precondition_failed', detail: 'other tables are active' }
    this.candidates.delete(id)
    const tables = tablesOf(candidate.base + 1, candidate.files)
    const { version, digest } = tables
    const key = JSON.stringify({ version, digest, candidate: id } satisfies TablesNotice)
    const committed = this.#number([{ tenant: TENANT, kind: 'tables', key }])
    this.#addTables(committed.seq, tables)
    this.onTables('activated', candidate)
    return { ...committed, value: { ...tables, hash: '', entries: 0, createdAt: 0, createdBy: BY } }
  }

  /**
   * The store is restored to before the newest activation: another history, with other marks. It has lost nothing else
   * here, and its numbers go on.
   */
  restoreTables(): void {
    const versions = this.versionsOf(TABLES_RECORD).filter(({ tables }) => tables !== null)
    const before = versions.at(-2)?.tables ?? null
    if (before === null) return
    for (const [at, change] of this.#changes.entries())
      this.#changes[at] = { ...change, mark: (change.mark % 2 ** 31) + 1 }
    this.candidates.clear()
    this.#addTables(this.#number(othersOf(1)).seq, before)
  }

  #addTables(seq: number, tables: ActiveTables): void {
    const { tag } = readFiles(tables.files)
    this.#add(TABLES_RECORD, { ...MISSING, seq, tag, exists: true, tables })
  }

  /** The records that the commit with this number wrote. */
  changedBy(seq: number): StoredRecord[] {
    return ALL_RECORDS.filter((record) => this.versionsOf(record).some((version) => version.seq === seq))
  }

  current(record: StoredRecord): Version {
    return this.#versions.get(record)?.at(-1) ?? MISSING
  }

  /** In order, from before the first write. */
  versionsOf(record: StoredRecord): readonly Version[] {
    return this.#versions.get(record) ?? [MISSING]
  }

  /** The version after the commit with that number. */
  versionAt(record: StoredRecord, seq: number): Version {
    return this.versionsOf(record).findLast((version) => version.seq <= seq) ?? MISSING
  }

  /** @returns whether the session is claimed now */
  claim(now: number, until: number): boolean {
    if (!this.current(SESSION).exists || this.#claimedUntil > now) return false
    this.#claimedUntil = until
    return true
  }

  giveBack(): void {
    this.#claimedUntil = 0
  }

  /** @param isChecked false: the end of the session does not count, which the real store does not offer */
  renew({ email, renewAt }: Renewal, isChecked: boolean): Committed | null {
    const revives = !this.current(SESSION).exists
    if (revives && isChecked) return null
    this.giveBack()
    const committed = this.#number(this.#changesOf(SESSION))
    this.#add(SESSION, { ...MISSING, seq: committed.seq, tag: tagOf(email), exists: true, renewAt, revives })
    return committed
  }

  feedSince(position: Position | null): FeedState {
    const head = this.#head
    if (position === null) return { head, changes: this.#changes.slice(Math.max(0, head.seq - this.#kept)) }
    const isWhole = this.#isKept(position) && head.seq - position.seq <= Math.min(MAX_CHANGES, this.#kept)
    return { head, changes: isWhole ? this.#changes.slice(position.seq) : null }
  }

  list(): ReachableInstance[] {
    const common = {
      understands: CHANGE_KINDS,
      cuts: [] as readonly CutReport[],
      tables: null,
      process: null,
    }
    return [
      ...[...this.rows.values()].map(({ id, beat, applied, cuts }) => ({
        ...{ ...common, id, name: id, beat, applied, cuts, gone: false },
      })),
      ...[...this.#gone].map((id) => ({ ...common, id, name: id, beat: 0, applied: 0, gone: true })),
    ]
  }

  register(id: string): void {
    this.#gone.delete(id)
    if (!this.rows.has(id)) this.rows.set(id, { id, beat: 0, applied: 0, cuts: [], onList: true })
  }

  /** @param gone whether it was removed for its silence */
  remove(row: InstanceRow | undefined, gone = false): void {
    if (row === undefined) return
    if (gone) this.#gone.add(row.id)
    row.onList = false
    this.removed++
    this.rows.delete(row.id)
  }

  #add(record: StoredRecord, version: Version): void {
    const versions = this.#versions.get(record)
    if (versions === undefined) this.#versions.set(record, [MISSING, version])
    else versions.push(version)
  }

  #swapNames(): void {
    const [[one, name] = [], [two, other] = []] = this.#names
    if (one === undefined || two === undefined || name === undefined || other === undefined) return
    this.#names.set(one, other).set(two, name)
  }

  #number(changes: Committed['changes']): Committed {
    const mark = 1 + this.#context.random.below(2 ** 31 - 1)
    for (const change of changes) this.#changes.push({ ...change, seq: this.#changes.length + 1, mark })
    const seq = this.#changes.length
    this.#head = { seq, mark }
    return { seq, mark, changes }
  }

  #changesOf(record: StoredRecord, isWide = false): Committed['changes'] {
    const { kind } = record
    if (kind === 'cutoff') return []
    const own = { tenant: TENANT, kind, key: isWide ? 'null' : keyOf(record) }
    const name = this.#names.get(record)
    return name === undefined ? [own] : [own, { tenant: TENANT, kind: 'seat-name', key: name.id }]
  }

  #isKept({ seq, mark }: Position): boolean {
    if (seq === 0) return mark === 0
    return seq > this.#head.seq - this.#kept && this.#changes[seq - 1]?.mark === mark
  }
}

function keyOf({ kind, id }: StoredRecord): string {
  if (kind === 'membership') return JSON.stringify([MEMBER, 'user name'])
  return kind === 'block' || kind === 'grant' ? JSON.stringify(id) : id
}

const SUBJECTS: Readonly<Record<keyof Cutoffs, RevocationSubject>> = {
  user: { user: BLOCK.id },
  issuer: { issuer: ISSUER },
  tenant: { tenant: true },
}

function noticeOf(notice: RevocationNotice): Change {
  return { tenant: TENANT, kind: 'revocation', key: JSON.stringify(notice) }
}

function othersOf(count: number): Committed['changes'] {
  return Array.from({ length: count }, (_, index) => ({ tenant: 'other', kind: 'api-key', key: `k${index}` }))
}
