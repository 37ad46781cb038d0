/**
 * One instance of a fleet: follows the feed for its deciders (this process, or its workers), applies
 * announcements of others, and announces its own writes. `lease.ts` describes the protocol. A process tree
 * has one instance.
 */

import type { Acknowledgement, Announcement, Bus } from './bus.ts'
import type { ChangeReader, Committed, NumberedChange } from '../../seats-admin/model/change.ts'
import { numbered, type Reading } from './feed-reading.ts'
import { AcknowledgementBarrier } from './acknowledgements.ts'
import type { Clock } from './clock.ts'
import {
  type InstanceIdentity,
  type InstanceList,
  type ListedInstance,
  registeredFeed,
  singleInstanceFeed,
} from './feeds.ts'
import { type FeedListener, Follower } from './follower.ts'
import { LEASE, MARGIN, type Renewer } from './lease.ts'
import { RecentChanges } from './recent-changes.ts'

/** A process of this instance that decides requests. */
export interface Decider {
  /** Resolves once the decider has dropped what changed, or its process has ended. */
  applyReading(reading: Reading): Promise<void> | void
  /** Resolves once the decider has dropped what changed, or its process has ended. */
  applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> | void
}

/** The access of a process to coherence: its own instance, or the primary's over a channel. */
export interface Coherence extends Renewer {
  /** From now on the decider receives all changes. */
  join(decider: Decider): void
  /**
   * Announces a committed write of this process. Resolves when no decider of any instance decides on the
   * state before the write. A write that found nothing to change waits for all writes up to its `seq`. Never
   * rejects, and resolves at the latest after LEASE + MARGIN and a timer's delay.
   */
  announce(committed: Committed): Promise<void>
}

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
  /**
   * Monotonic ms before which no write is acknowledged, as a process of the previous instance may hold a
   * lease until then. Left out: no process does.
   */
  readonly acknowledgesFrom?: number
}

/** The most changes of one message. */
const MAX_ANNOUNCED = 1000
/** Milliseconds between reads of the list while an acknowledgement is missing. */
const LIST_EVERY = 50

/** The state of a decider. */
interface DeciderState {
  /** Monotonic ms from which it receives announcements. Readings that began earlier give it no lease. */
  readonly joined: number
  /** The newest reading that the decider has confirmed. */
  applied: number
  /** Increases when the feed may be of another history: earlier confirmations do not count then. */
  history: number
  /** Settles when the decider has confirmed the latest reading. */
  confirmed: Promise<void>
}

/** A write that is not acknowledged yet. */
interface PendingWrite {
  readonly begun: number
  readonly barrier: AcknowledgementBarrier
  /** Monotonic ms of the first read of the list after the commit. */
  listedAt: number
}

export class Instance implements Coherence {
  readonly id: string
  readonly follower: Follower
  /** The changes that it has received, for people. */
  readonly recent: RecentChanges
  readonly #parts: InstanceOptions
  readonly #deciders = new Map<Decider, DeciderState>()
  readonly #pendingWrites = new Map<number, PendingWrite>()
  #number = 0

  constructor(parts: InstanceOptions) {
    const { id, source, list, bus, clock, listener } = parts
    this.id = id
    this.#parts = parts
    this.recent = new RecentChanges(clock)
    const feed = list === null ? singleInstanceFeed(source) : registeredFeed(list, clock, parts)
    this.follower = new Follower(
      feed,
      clock,
      { applyReading: (reading) => this.#distribute(reading), applied: () => this.applied },
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

  join(decider: Decider): void {
    const joined = this.#parts.clock.now()
    this.#deciders.set(decider, { joined, applied: 0, history: 0, confirmed: Promise.resolve() })
  }

  /** The decider makes no decisions any more. */
  leave(decider: Decider): void {
    this.#deciders.delete(decider)
  }

  announce(committed: Committed): Promise<void> {
    const begun = this.#parts.clock.now()
    const number = ++this.#number
    const changes = numbered(committed)
    this.recent.add(changes)
    return new Promise((resolve) => {
      const done = (by: WriteResult['by']) => {
        if (!this.#pendingWrites.delete(number)) return
        cancel()
        const after = this.#parts.clock.now() - begun
        this.recent.tookEffect(changes, after)
        this.#parts.listener.answered({ by, after })
        if (by === 'waited') this.#removeSilent(pendingWrite)
        resolve()
      }
      const cancel = this.#parts.clock.after(LEASE + MARGIN, () => done('waited'))
      const barrier = new AcknowledgementBarrier(committed.seq, () => done('acknowledged'))
      const pendingWrite: PendingWrite = { begun, barrier, listedAt: Number.POSITIVE_INFINITY }
      this.#pendingWrites.set(number, pendingWrite)
      // A decider that fails to apply the changes counts as silent: the write waits.
      this.#apply(committed.seq, changes).then(
        () => barrier.localApplied(),
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
      void this.#allConfirmed().then(() => {
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
    for (const [decider, state] of this.#deciders) state.confirmed = deliver(decider, state, reading)
    const { list, bus } = this.#parts
    if (list !== null && bus?.up !== true && reading.changes?.length !== 0) void this.#reportApplied()
  }

  /**
   * The newest change that all its deciders have applied: a worker that has not confirmed a reading may still
   * decide on the state before it.
   */
  get applied(): number {
    let applied = this.follower.position?.seq ?? 0
    for (const state of this.#deciders.values()) applied = Math.min(applied, state.applied)
    return applied
  }

  /**
   * Without messages, the list tells writers that the changes are applied, so the next beat is sent at once.
   */
  async #reportApplied(): Promise<void> {
    await this.#allConfirmed()
    this.#parts.clock.after(0, () => void this.follower.renew().catch(() => {}))
  }

  async #allConfirmed(): Promise<void> {
    await Promise.all([...this.#deciders.values()].map(({ confirmed }) => confirmed))
  }

  async #announceLocally(changes: readonly NumberedChange[]): Promise<void> {
    await Promise.all([...this.#deciders.keys()].map((decider) => decider.applyAnnouncement(changes)))
  }

  /**
   * A write that found nothing to do has no changes: the write that did it may not have been announced. Its
   * changes are in the feed, as are those that one message cannot contain.
   */
  #apply(seq: number, changes: readonly NumberedChange[] | null): Promise<void> {
    return changes === null || changes.length === 0 ? this.#readUpTo(seq) : this.#announceLocally(changes)
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
    const listed = () => this.#pendingWrites.get(number)?.barrier.listed([])
    if (wait > 0) clock.after(wait, listed)
    else listed()
  }

  /** Reads the list, repeatedly while an acknowledgement is missing. */
  #readList(list: InstanceList, number: number): void {
    list
      .instances()
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

  #listed(number: number, instances: readonly ListedInstance[]): void {
    const pendingWrite = this.#pendingWrites.get(number)
    if (pendingWrite === undefined) return
    pendingWrite.listedAt = Math.min(pendingWrite.listedAt, this.#parts.clock.now())
    pendingWrite.barrier.listed(instances.filter(({ id }) => id !== this.id))
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
    this.#parts.bus?.acknowledge({ to: from, from: this.id, number })
  }

  /** A reading in flight may have begun before the change was committed: then a second one is needed. */
  async #readUpTo(seq: number): Promise<void> {
    await this.follower.renew()
    if ((this.follower.position?.seq ?? 0) < seq) await this.follower.renew()
    await this.#allConfirmed()
    if (this.applied < seq) throw new Error('the feed does not show the change that was announced')
  }

  #acknowledged({ to, from, number }: Acknowledgement): void {
    const pendingWrite = this.#pendingWrites.get(number)
    if (to !== this.id || pendingWrite === undefined) return
    const after = this.#parts.clock.now() - pendingWrite.begun
    if (pendingWrite.barrier.acknowledged(from)) this.#parts.listener.acknowledged(after)
  }
}

async function deliver(decider: Decider, state: DeciderState, reading: Reading): Promise<void> {
  const late = reading.noted < state.joined
  // Numbers of another history are not comparable, nor are confirmations that are still on their way.
  if (reading.changes === null) {
    state.applied = 0
    state.history++
  }
  const { history } = state
  try {
    await decider.applyReading(late ? { ...reading, noted: Number.NEGATIVE_INFINITY } : reading)
    if (state.history === history) state.applied = reading.head.seq
  } catch {
    // The decider may not have dropped what changed: `applied` stays as it was.
  }
}
