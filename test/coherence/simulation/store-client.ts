/**
 * A process's client of the store. A statement has three events, with a delay before each: it starts and takes its
 * snapshot; it takes effect; its response arrives. Any of them may be late or missing, and a statement may take effect
 * after its client timed out. `seats-admin/store/store.ts` documents what each statement does under READ COMMITTED.
 */

import type { GrantsReading, UserGrantsReading } from '../../../seats-admin/model/grant.ts'
import type { MembershipReading } from '../../../seats-admin/model/scim.ts'
import type { ActiveTables, TableFiles } from '../../../seats-admin/model/tables-version.ts'
import type { AsOf, GrantReading } from '../../../seats-admin/model/readings.ts'
import type { Committed, Position } from '../../../seats-admin/model/change.ts'
import type { CutReport, ReachableInstance } from '../../../seats-admin/model/registered-instance.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { RestrictionsReading, UserRestrictionReading } from '../../../seats-admin/model/revocation.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import { MAX_CANDIDATES, type Renewal, type StoredSession } from '../../../seats-admin/index.ts'
import type { SeatQuestion } from '../../../src/model/decision-seat.ts'
import type { Database, FeedState, InstanceRow, Revocation, Write } from './database.ts'
import { delay } from './context.ts'
import type { Process } from './process.ts'
import {
  BLOCK,
  CUTOFFS,
  GRANT,
  GRANTED,
  GRANTED_SEAT,
  grantsOf,
  GROUPS,
  groupsOf,
  isGroup,
  ISSUER,
  keyOf,
  namedOf,
  orNull,
  recordBy,
  restrictionOf,
  seatOf,
  SESSION,
  sessionOf,
  type StoredRecord,
  TABLES_RECORD,
  type Version,
} from './records.ts'

/** Timeouts in milliseconds, as in the real store. */
const TIMEOUT = 2000
const FOLLOW_TIMEOUT = 500

export class StoreClient {
  readonly #database: Database
  readonly #process: Process
  /** True milliseconds that the slowest reading of grants has taken. */
  slowestGrants = 0

  constructor(database: Database, process: Process) {
    this.#database = database
    this.#process = process
  }

  grantByName(_tenant: string, name: string, question: SeatQuestion) {
    if (isGroup(name)) return this.#read(GROUPS, () => ({ seat: null, givenUpAt: null }))
    return this.#read(recordBy(name), (...found) => namedOf(...found, question))
  }

  grantById(_tenant: string, id: string, question: SeatQuestion): Promise<AsOf<GrantReading | null>> {
    if (id === GRANTED) return this.#read(GRANT, () => GRANTED_SEAT)
    return this.#read(recordBy(id), (...found) => seatOf(...found, question))
  }

  /** Not asked: no one signs in. */
  spacesByName(): Promise<AsOf<GrantReading | null>> {
    return Promise.reject(new Error('not modelled'))
  }

  /** Not asked: no built-in endpoint is called. */
  seatById(): Promise<AsOf<GrantReading | null>> {
    return Promise.reject(new Error('not modelled'))
  }

  apiKeyById(_tenant: string, id: string): Promise<AsOf<StoredApiKey | null>> {
    return this.#read(recordBy(id), keyOf)
  }

  readSession(_tenant: string, id: string): Promise<AsOf<SessionRecord | null>> {
    return this.#read(recordBy(id), sessionOf)
  }

  sessionById(): Promise<StoredSession> {
    return this.#ask(TIMEOUT, () => this.#session())
  }

  /** An UPDATE whose conditions PostgreSQL checks again on the row that it locks: snapshot and effect are one event. */
  claimRenewal(_tenant: string, _id: string, now: number, until: number): Promise<StoredSession | null> {
    return this.#ask(TIMEOUT, () => (this.#database.claim(now, until) ? this.#session() : null))
  }

  async giveBack(): Promise<boolean> {
    await this.#ask(TIMEOUT, () => this.#database.giveBack())
    return true
  }

  /** @param isChecked as of the database */
  renew(renewal: Renewal, isChecked: boolean): Promise<Committed | null> {
    return this.#ask(TIMEOUT, () => {
      const committed = this.#database.renew(renewal, isChecked)
      if (committed !== null) this.#process.context.model?.commit(this.#process, committed)
      this.#process.context.trace?.(`${this.#process.name} has renewed the session as ${committed?.seq}`)
      return committed
    })
  }

  restrictions(_tenant: string): Promise<AsOf<RestrictionsReading>> {
    const isMany = this.#database.hasManyBlocks
    return this.#read(BLOCK, (_, { exists }) => {
      const { user, issuer, tenant } = this.#database.current(CUTOFFS).cutoffs
      const restriction = restrictionOf(exists, user)
      const users = restriction === null ? [] : [restriction]
      const issuers = issuer < 0 ? {} : { [ISSUER]: issuer }
      return { now: 0, users: isMany ? null : users, issuers, tenant: orNull(tenant) }
    })
  }

  userRestriction(_tenant: string, user: string): Promise<AsOf<UserRestrictionReading>> {
    return this.#read(BLOCK, ({ id }, { exists }) => {
      const { cutoffs } = this.#database.current(CUTOFFS)
      return { now: 0, restriction: user === id ? restrictionOf(exists, cutoffs.user) : null }
    })
  }

  groups(_tenant: string, member: string): Promise<AsOf<MembershipReading>> {
    return this.#read(GROUPS, ({ id }, version) => {
      const isKnown = member === id && version.exists
      return { user: isKnown ? { active: true, groups: groupsOf(version) } : null }
    })
  }

  grants(_tenant: string): Promise<AsOf<GrantsReading>> {
    const isMany = this.#database.hasManyBlocks
    return this.#readGrants(({ id }, version) => {
      const users = version.exists ? [{ user: id, grants: grantsOf(version) }] : []
      return { now: this.#database.now, users: isMany ? null : users }
    })
  }

  userGrants(_tenant: string, user: string): Promise<AsOf<UserGrantsReading>> {
    return this.#readGrants(({ id }, version) => ({
      now: this.#database.now,
      grants: user === id ? grantsOf(version) : [],
    }))
  }

  activeTables(): Promise<AsOf<ActiveTables>> {
    return this.#read(TABLES_RECORD, () => this.#database.tables)
  }

  tablesCandidates(_tenant: string): Promise<readonly string[]> {
    return this.#ask(TIMEOUT, () => [...this.#database.candidates.keys()].slice(-MAX_CANDIDATES))
  }

  tablesCandidate(_tenant: string, id: string): Promise<TableFiles | null> {
    return this.#ask(TIMEOUT, () => this.#database.candidates.get(id)?.files ?? null)
  }

  async answerCandidate(_tenant: string, id: string, instance: string, answer: string): Promise<void> {
    await this.#ask(TIMEOUT, () => void this.#database.candidates.get(id)?.answers.set(instance, answer))
  }

  candidateAnswers(_tenant: string, id: string): Promise<ReadonlyMap<string, string>> {
    return this.#ask(TIMEOUT, () => new Map(this.#database.candidates.get(id)?.answers))
  }

  proposeTables(_writer: unknown, { files }: { readonly files: TableFiles }) {
    return this.#commit('a proposal of tables', () => this.#database.propose(files))
  }

  activateTables(_writer: unknown, id: string) {
    return this.#ask(TIMEOUT, () => {
      const activated = this.#database.activate(id)
      if ('seq' in activated)
        this.#process.context.trace?.(`${this.#process.name} has activated tables as ${activated.seq}`)
      return activated
    })
  }

  async withdrawTables(_tenant: string, id: string): Promise<void> {
    await this.#ask(TIMEOUT, () => void this.#database.candidates.delete(id))
  }

  changesSince(position: Position | null): Promise<FeedState> {
    return this.#ask(FOLLOW_TIMEOUT, () => this.#database.feedSince(position))
  }

  /** Writers take turns by the lock on the counter row, so snapshot and effect are one event. */
  write(write: Write): Promise<Committed> {
    const ids = write.records.map(({ id }) => id).join(' and ')
    return this.#commit(ids, () => this.#database.commit(write))
  }

  revoke(revocation: Revocation): Promise<Committed> {
    const now = this.#process.clock.wall()
    const what = `a revocation of the ${revocation.subject}`
    return this.#commit(what, () => this.#database.revoke(revocation, now))
  }

  /** A creation and a revocation take turns by a lock. Null: there is no further session. */
  signIn(): Promise<ReturnType<Database['signIn']>> {
    return this.#ask(TIMEOUT, () => {
      const created = this.#database.signIn()
      this.#process.context.trace?.(`${this.#process.name} has created ${created?.session.id}`)
      return created
    })
  }

  #commit<C extends Committed>(what: string, commit: () => C): Promise<C> {
    return this.#ask(TIMEOUT, () => {
      const committed = commit()
      this.#process.context.model?.commit(this.#process, committed)
      this.#process.context.trace?.(`${this.#process.name} has committed ${what} as ${committed.seq}`)
      return committed
    })
  }

  /** The provider ends the session. @param announce resolves when no instance decides by the session as it was */
  async endSession(announce: (committed: Committed) => Promise<void>): Promise<void> {
    this.#database.announcedEnds++
    try {
      await announce(await this.write({ records: [SESSION], deletes: [SESSION] }))
    } finally {
      this.#database.announcedEnds--
    }
  }

  async register(id: string, _name: string): Promise<void> {
    await this.#ask(TIMEOUT, () => {
      this.#database.register(id)
      this.#process.context.model?.enlist(this.#process)
    })
  }

  /** An UPDATE and a SELECT in one statement, with one snapshot; a row that was deleted meanwhile is not updated. */
  async follow(
    id: string,
    beat: number,
    position: Position | null,
    applied: number,
    _shown?: unknown,
    cuts: readonly CutReport[] = [],
  ) {
    const { model } = this.#process.context
    model?.note(this.#process, beat, applied)
    const start = () => {
      const row = this.#rowOf(id, (found) => found.beat < beat)
      model?.snapshot(this.#process, beat, row !== null)
      return { ...this.#database.feedSince(position), row, registered: row !== null }
    }
    const effect = (seen: ReturnType<typeof start>) => {
      const { row } = seen
      const counts = row !== null && row.onList && row.beat < beat
      model?.beat(this.#process, beat, applied, counts)
      if (!counts) return { ...seen, registered: false }
      row.beat = beat
      row.applied = applied
      row.cuts = cuts
      return seen
    }
    const { head, changes, registered } = await this.#ask(FOLLOW_TIMEOUT, start, effect).catch((cause) => {
      model?.lose(this.#process, beat)
      throw cause
    })
    model?.receive(this.#process, beat, registered)
    return { head, changes, registered }
  }

  reachable(): Promise<readonly ReachableInstance[]> {
    return this.#ask(TIMEOUT, () => {
      this.#process.context.model?.list(this.#process)
      return this.#database.list()
    })
  }

  /** @param beat null: any, which the real store doesn't offer */
  async forget(id: string, beat: number | null): Promise<void> {
    const holds = (row: InstanceRow) => beat === null || row.beat === beat
    const effect = (row: InstanceRow | null) => {
      if (row === null || !row.onList || !holds(row)) return null
      this.#database.remove(row, true)
      this.#process.context.model?.forget(this.#process, id)
      this.#process.context.trace?.(`${this.#process.name} has taken ${id} off the list`)
      return row
    }
    await this.#ask(TIMEOUT, () => this.#rowOf(id, holds), effect)
  }

  /** Simulated instances have no secrets. */
  async showSecrets(): Promise<void> {}

  async leave(id: string): Promise<void> {
    await this.#ask(TIMEOUT, () => {
      this.#database.remove(this.#database.rows.get(id))
      this.#process.context.model?.leave(this.#process)
    })
  }

  #read<V>(record: StoredRecord, value: (record: StoredRecord, version: Version) => V): Promise<AsOf<V>> {
    return this.#ask(TIMEOUT, () => ({
      ...this.#database.head,
      value: value(record, this.#database.current(record)),
    }))
  }

  async #readGrants<V>(value: (record: StoredRecord, version: Version) => V): Promise<AsOf<V>> {
    const { timeline } = this.#process.context
    const sent = timeline.now
    const reading = await this.#read(GRANT, value)
    this.slowestGrants = Math.max(this.slowestGrants, timeline.now - sent)
    return reading
  }

  #session(): StoredSession {
    return sessionOf(SESSION, this.#database.current(SESSION))
  }

  #rowOf(id: string, holds: (row: InstanceRow) => boolean): InstanceRow | null {
    const row = this.#database.rows.get(id)
    return row !== undefined && holds(row) ? row : null
  }

  /**
   * @param start takes the snapshot
   * @param effect is applied later, and gives the response; left out: there is none beyond `start`
   */
  #ask<V>(timeout: number, start: () => V, effect?: (seen: V) => V): Promise<V> {
    const { promise, resolve, reject } = Promise.withResolvers<V>()
    const { context, clock, machine } = this.#process
    const { timeline, random, conditions } = context
    const giveUp = clock.after(timeout, () => reject(new Error('the store did not respond')))
    const respond = (settle: () => void) =>
      machine.store.carry(delay(context), this.#process, () => {
        giveUp()
        settle()
      })
    const end = (response: V) => {
      if (!random.chance(conditions.unanswered)) respond(() => resolve(response))
    }
    machine.store.carry(delay(context), null, () => {
      if (random.chance(conditions.refused)) return respond(() => reject(new Error('the store refuses')))
      const seen = start()
      if (effect === undefined) end(seen)
      else timeline.after(delay(context), null, () => end(effect(seen)))
    })
    return promise
  }
}
