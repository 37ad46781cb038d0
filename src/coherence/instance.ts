/**
 * One instance of a fleet: follows the feed for its deciders (this process, or its workers), applies
 * announcements of others, and announces its own writes. `lease.ts` describes the protocol. A process tree
 * has one instance.
 */

import type { Acknowledgement, Announcement, Bus } from './bus.ts'
import type { ChangeReader, Committed, NumberedChange } from '../../seats-admin/model/change.ts'
import type { ReachableInstance } from '../../seats-admin/model/registered-instance.ts'
import type { OpenCounts, ReachedInstance } from '../../seats-admin/model/revocation.ts'
import { numbered, type Reading } from './feed-reading.ts'
import { AcknowledgementBarrier } from './acknowledgements.ts'
import { type Clock, withinTime } from './clock.ts'
import type { Coherence } from './coherence.ts'
import type { TablesAsOf, TablesReader } from './current-tables.ts'
import { CUT_WITHIN, CutReports } from './cut-reports.ts'
import { type Decider, Deciders } from './deciders.ts'
import { type InstanceIdentity, type InstanceList, registeredFeed, singleInstanceFeed } from './feeds.ts'
import { type FeedListener, Follower } from './follower.ts'
import { LEASE, MARGIN } from './lease.ts'
import { ReachedInstances } from './reached-instances.ts'
import { RecentChanges } from './recent-changes.ts'

/** How a write was acknowledged. */
export interface WriteResult {
  /** How it was acknowledged: by all instances, or by waiting until no earlier lease can be live. */
  readonly by: 'acknowledged' | 'waited'
  /** Milliseconds since the commit was reported. */
  readonly after: number
}

interface InstanceListener {
  readonly feed: FeedListener
  answered(result: WriteResult): void
  /** Milliseconds until one other instance acknowledged. */
  acknowledged(after: number): void
}

export interface InstanceOptions extends InstanceIdentity {
  readonly source: ChangeReader
  readonly list: InstanceList | null
  readonly bus: Bus | null
  readonly clock: Clock
  readonly listener: InstanceListener
  /** Has the files of the configuration read, as `FilesReader` says; left out: it has none. */
  readonly checkFiles?: () => Promise<void>
  /** The tables of the store; left out: the tables are in files. */
  readonly tables?: FeedTables
  /**
   * Monotonic ms before which no write is acknowledged, as a process of the previous instance may hold a
   * lease until then. Left out: no process does.
   */
  readonly acknowledgesFrom?: number
}

/** The tables of the store that all processes of the instance decide by. */
export interface FeedTables extends TablesReader {
  /**
   * Called with changes before the deciders apply them, so that a version which is ready is active by then.
   *
   * @param changes null: the history may be another one
   */
  received(changes: readonly NumberedChange[] | null): void
}

/** The most changes of one message. */
const MAX_ANNOUNCED = 1000
/**
 * Milliseconds that requests and readings wait for the files. A file system that hangs would hold both for
 * ever, and requests would pile up: a request is refused after that, as without a store. Less than a worker
 * waits.
 */
export const FILES_WITHIN = 2000
/** Milliseconds between reads of the list while an acknowledgement is missing. */
const LIST_EVERY = 50

/** A write that is not acknowledged yet, or a revocation about which not every instance has said enough. */
interface PendingWrite {
  readonly begun: number
  readonly barrier: AcknowledgementBarrier
  /** What the instances say about a revocation; null: it is another write. */
  readonly reached: ReachedInstances | null
  /** Monotonic ms of the first read of the list after the commit. */
  listedAt: number
}

export class Instance implements Coherence {
  readonly id: string
  readonly follower: Follower
  /** The changes that it has received, for people. */
  readonly recent: RecentChanges
  readonly #parts: InstanceOptions
  readonly #deciders = new Deciders()
  readonly #pendingWrites = new Map<number, PendingWrite>()
  readonly #cutReports: CutReports
  #number = 0

  constructor(parts: InstanceOptions) {
    const { id, source, list, bus, clock, listener } = parts
    this.id = id
    this.#parts = parts
    this.recent = new RecentChanges(clock)
    this.#cutReports = new CutReports(clock)
    const cuts = () => this.#cutReports.take()
    const feed = list === null ? singleInstanceFeed(source) : registeredFeed(list, clock, { ...parts, cuts })
    this.follower = new Follower(
      feed,
      clock,
      {
        applyReading: (reading) => this.#distribute(reading),
        applied: () => this.applied,
        resumes: () => this.#filesReadAgain(),
      },
      listener.feed,
    )
    bus?.open(id, {
      announced: (announcement) => void this.#announced(announcement),
      acknowledged: (acknowledgement) => this.#acknowledged(acknowledgement),
    })
  }

  /** Rejects when the store can't be read. */
  start(): Promise<void> {
    return this.follower.start()
  }

  renew(): Promise<void> {
    return this.follower.renew()
  }

  /** Rejects when the files are not read within {@link FILES_WITHIN}. */
  checkFiles(): Promise<void> {
    const { clock, checkFiles = () => Promise.resolve() } = this.#parts
    const late = 'the files of the configuration were not read in time'
    return withinTime(clock, FILES_WITHIN, checkFiles(), late)
  }

  /** Rejects when the tables are not read within {@link FILES_WITHIN}, too. */
  checkTables(): Promise<TablesAsOf> {
    const { clock, tables } = this.#parts
    if (tables === undefined) return Promise.reject(new Error('the tables are in files'))
    const late = 'the tables of the store were not read in time'
    return withinTime(clock, FILES_WITHIN, tables.checkTables(), late)
  }

  /** At the start, `startup_timeout` is the bound. */
  async #filesReadAgain(): Promise<void> {
    if (this.follower.position === null) await this.#parts.checkFiles?.()
    else await this.checkFiles()
  }

  join(decider: Decider): void {
    this.#deciders.join(decider, this.#parts.clock.now())
  }

  /** The decider makes no decisions any more. */
  leave(decider: Decider): void {
    this.#deciders.leave(decider)
  }

  announce(committed: Committed): Promise<void> {
    return this.#publish(committed, ++this.#number, null)
  }

  async revoke(committed: Committed): Promise<readonly ReachedInstance[]> {
    const { clock } = this.#parts
    const begun = clock.now()
    const number = ++this.#number
    const reached = new ReachedInstances(this.#parts, committed, () => clock.now() - begun)
    await this.#publish(committed, number, reached)
    // A write that found nothing to change cuts nothing.
    if (committed.changes.length > 0) await this.#allHaveCut(reached, begun + CUT_WITHIN - clock.now())
    this.#pendingWrites.delete(number)
    return reached.all
  }

  /** Resolves after `ms` at the latest. */
  #allHaveCut(reached: ReachedInstances, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(ms, resolve)
      void reached.decided().then(() => {
        cancel()
        resolve()
      })
    })
  }

  #publish(committed: Committed, number: number, reached: ReachedInstances | null): Promise<void> {
    const begun = this.#parts.clock.now()
    const changes = numbered(committed)
    this.recent.add(changes)
    return new Promise((resolve) => {
      let isDone = false
      const done = (by: WriteResult['by']) => {
        if (isDone) return
        isDone = true
        cancel()
        if (reached === null) this.#pendingWrites.delete(number)
        const after = this.#parts.clock.now() - begun
        this.recent.tookEffect(changes, after)
        this.#parts.listener.answered({ by, after })
        if (by === 'waited') this.#removeSilent(pendingWrite)
        resolve()
      }
      const cancel = this.#parts.clock.after(LEASE + MARGIN, () => done('waited'))
      const barrier = new AcknowledgementBarrier(committed.seq, () => done('acknowledged'))
      const pendingWrite: PendingWrite = { begun, barrier, reached, listedAt: Number.POSITIVE_INFINITY }
      this.#pendingWrites.set(number, pendingWrite)
      // A decider that fails to apply the changes counts as silent: the write waits.
      this.#apply(committed.seq, changes).then(
        () => {
          reached?.acknowledged(this.id)
          if (reached !== null) void this.#cutBy(committed.mark).then((cut) => reached.said(this.id, cut))
          barrier.localApplied()
        },
        () => {},
      )
      this.#announceRemotely(committed, number)
    })
  }

  /**
   * Reads the feed before {@link applied} is shown, so that every change that this instance knows counts.
   * Rejects when the store can't be read. A decider that does not respond delays it by {@link LIST_EVERY},
   * and counts with its earlier state.
   */
  async refresh(): Promise<void> {
    const { clock } = this.#parts
    await this.follower.renew()
    // The reading may have begun before the newest change was committed.
    if ((this.follower.position?.seq ?? 0) < this.recent.newest) await this.follower.renew()
    await new Promise<void>((resolve) => {
      const cancel = clock.after(LIST_EVERY, resolve)
      void this.#deciders.confirmed().then(() => {
        cancel()
        resolve()
      })
    })
  }

  /** Stops following and leaves the list. The deciders must have ended before. */
  async close(): Promise<void> {
    await this.follower.stop()
    const { list, bus } = this.#parts
    // If this fails, the next writer waits for one lease.
    await list?.leave(this.id).catch(() => {})
    await bus?.close()
  }

  #distribute(reading: Reading): void {
    this.recent.read(reading)
    this.#parts.tables?.received(reading.changes)
    this.#deciders.applyReading(reading)
    if (this.#reportsByBeat && reading.changes?.length !== 0) void this.#reportApplied()
    for (const mark of noticesIn(reading.changes ?? [])) void this.#cutBy(mark)
  }

  /** Without messages, writers learn from the list of the store what this instance has done. */
  get #reportsByBeat(): boolean {
    const { list, bus } = this.#parts
    return list !== null && bus?.up !== true
  }

  /** What all its deciders have cut, as {@link Deciders.cutBy}; it is also reported with the next beats. */
  async #cutBy(mark: number): Promise<OpenCounts | null> {
    const cut = await this.#deciders.cutBy(mark)
    this.#cutReports.add(mark, cut)
    if (this.#reportsByBeat) void this.#reportCuts()
    return cut
  }

  /** A beat in flight may have begun before the newest report. */
  async #reportCuts(): Promise<void> {
    for (let beats = 0; beats < 2 && this.#cutReports.hasNew; beats++)
      await this.follower.renew().catch(() => {})
  }

  /** The newest change that all its deciders have applied. */
  get applied(): number {
    return this.#deciders.applied(this.follower.position?.seq ?? 0)
  }

  /** The next beat is sent at once. */
  async #reportApplied(): Promise<void> {
    await this.#deciders.confirmed()
    this.#parts.clock.after(0, () => void this.follower.renew().catch(() => {}))
  }

  /**
   * A write that found nothing to do has no changes: the write that did it may not have been announced. Its
   * changes are in the feed, as are those that one message cannot contain.
   */
  #apply(seq: number, changes: readonly NumberedChange[] | null): Promise<void> {
    if (changes === null || changes.length === 0) return this.#readUpTo(seq)
    this.#parts.tables?.received(changes)
    return this.#deciders.applyAnnouncement(changes)
  }

  #announceRemotely(committed: Committed, number: number): void {
    const { bus, list } = this.#parts
    if (list === null) return this.#announceAlone(number)
    const { seq } = committed
    const { length } = committed.changes
    const changes = length === 0 || length > MAX_ANNOUNCED ? null : numbered(committed)
    bus?.announce({ from: this.id, number, seq, changes })
    this.#readList(list, number)
  }

  #announceAlone(number: number): void {
    const { clock, acknowledgesFrom = Number.NEGATIVE_INFINITY } = this.#parts
    const wait = acknowledgesFrom - clock.now()
    const listed = () => this.#listed(number, [])
    if (wait > 0) clock.after(wait, listed)
    else listed()
  }

  /** Reads the list, repeatedly while an acknowledgement or what an instance has cut is missing. */
  #readList(list: InstanceList, number: number): void {
    list
      .reachable()
      .then(
        (instances) => this.#listed(number, instances),
        () => {},
      )
      .finally(() => {
        if (!this.#pendingWrites.has(number)) return
        this.#parts.clock.after(LIST_EVERY, () => {
          if (this.#pendingWrites.has(number)) this.#readList(list, number)
        })
      })
  }

  #listed(number: number, instances: readonly ReachableInstance[]): void {
    const pendingWrite = this.#pendingWrites.get(number)
    if (pendingWrite === undefined) return
    pendingWrite.listedAt = Math.min(pendingWrite.listedAt, this.#parts.clock.now())
    const others = instances.filter(({ id }) => id !== this.id)
    pendingWrite.reached?.listed(others)
    pendingWrite.barrier.listed(others.filter(({ gone }) => !gone))
  }

  /**
   * An instance without a beat for LEASE + MARGIN after the list was read makes no decisions until it
   * registers again.
   */
  #removeSilent({ barrier, listedAt }: PendingWrite): void {
    const { clock, list } = this.#parts
    const wait = Math.max(0, listedAt + LEASE + MARGIN - clock.now())
    for (const [id, beat] of barrier.missing)
      clock.after(wait, () => void list?.forget(id, beat).catch(() => {}))
  }

  /** An announcement of another instance. */
  async #announced({ from, number, seq, changes }: Announcement): Promise<void> {
    if (from === this.id) return
    try {
      this.recent.add(changes ?? [])
      await this.#apply(seq, changes)
    } catch {
      // Not applied, so not acknowledged: the writer waits until this instance's lease has expired.
      return
    }
    const acknowledgement = { to: from, from: this.id, number }
    this.#parts.bus?.acknowledge(acknowledgement)
    for (const mark of noticesIn(changes ?? []))
      void this.#cutBy(mark).then((cut) => this.#parts.bus?.acknowledge({ ...acknowledgement, cut }))
  }

  /** A reading in flight may have begun before the change was committed: then a second one is needed. */
  async #readUpTo(seq: number): Promise<void> {
    await this.follower.renew()
    if ((this.follower.position?.seq ?? 0) < seq) await this.follower.renew()
    await this.#deciders.confirmed()
    if (this.applied < seq) throw new Error('the feed does not show the change that was announced')
  }

  #acknowledged({ to, from, number, cut }: Acknowledgement): void {
    const pendingWrite = this.#pendingWrites.get(number)
    if (to !== this.id || pendingWrite === undefined) return
    const { begun, barrier, reached } = pendingWrite
    reached?.acknowledged(from)
    if (cut !== undefined) reached?.said(from, cut)
    const after = this.#parts.clock.now() - begun
    if (barrier.acknowledged(from)) this.#parts.listener.acknowledged(after)
  }
}

/** The marks of the commits after which instances say what they have cut. */
function noticesIn(changes: readonly NumberedChange[]): Set<number> {
  return new Set(changes.filter(({ kind }) => NOTICES.has(kind)).map(({ mark }) => mark))
}

const NOTICES: ReadonlySet<string> = new Set(['revocation', 'tables'])
