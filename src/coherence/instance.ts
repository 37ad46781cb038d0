/**
 * One instance of a fleet: follows the feed for its deciders (this process, or its workers), applies announcements of
 * others, and announces its own writes. `lease.ts` describes the protocol. One a process tree.
 */

import type { Acknowledgement, Announcement, Bus } from './bus.ts'
import type { Committed, NumberedChange } from '../../seats-admin/model/change.ts'
import { numbered, type Reading } from './change.ts'
import { AcknowledgementBarrier } from './acknowledgements.ts'
import type { Clock } from './clock.ts'
import {
  type ChangeSource,
  type InstanceList,
  type ListedInstance,
  PlainFeed,
  RegisteredFeed,
} from './feeds.ts'
import { type FeedListener, Follower } from './follower.ts'
import { LEASE, MARGIN, type Renewer } from './lease.ts'

/** A process of this instance that decides requests. */
export interface Decider {
  /** Resolves once the decider has dropped what changed, or its process has ended. */
  take(reading: Reading): Promise<void> | void
  /** Resolves once the decider has dropped what changed, or its process has ended. */
  tell(changes: readonly NumberedChange[]): Promise<void> | void
}

/** A process's access to coherence: its own instance, or the primary's over a channel. */
export interface Coherence extends Renewer {
  /** From now on the decider receives all changes. */
  join(decider: Decider): void
  /**
   * Announces a committed write of this process. Resolves when no decider of any instance decides on the state before.
   * Never rejects, and resolves at the latest after LEASE + MARGIN and a timer's delay.
   */
  announce(committed: Committed): Promise<void>
}

/** How a write was acknowledged. */
export interface Answered {
  /** `acknowledged` by all instances; or `waited` until no earlier lease can be live. */
  readonly by: 'acknowledged' | 'waited'
  /** Milliseconds since the commit was reported. */
  readonly after: number
}

export interface InstanceListener {
  readonly feed: FeedListener
  answered(answered: Answered): void
  /** Milliseconds until one other instance acknowledged. */
  acknowledged(after: number): void
}

export interface InstanceParts {
  readonly id: string
  readonly name: string
  readonly source: ChangeSource
  readonly list: InstanceList | null
  readonly bus: Bus | null
  readonly clock: Clock
  readonly listener: InstanceListener
  /**
   * Monotonic ms before which no write is acknowledged: a process of the previous instance may hold a lease until then.
   * Left out: none does.
   */
  readonly answersFrom?: number
}

/** Changes of one message. */
const MAX_TOLD = 1000
/** Milliseconds between reads of the list while an acknowledgement is missing. */
const LOOK_EVERY = 50

/** The state of a decider. */
interface Standing {
  /** Readings that began before give it no lease: it did not receive the announcements since then. */
  readonly joined: number
  /** The newest reading that the decider has confirmed. */
  applied: number
  /** Increases when the feed may be of another history: earlier confirmations do not count then. */
  history: number
  /** Settles when the decider has confirmed the latest reading. */
  taken: Promise<void>
}

/** A write that is not acknowledged yet. */
interface Unanswered {
  readonly begun: number
  readonly barriers: AcknowledgementBarrier
  /** When the list was first read after the commit. */
  listedAt: number
}

export class Instance implements Coherence {
  readonly id: string
  readonly follower: Follower
  readonly #parts: InstanceParts
  readonly #deciders = new Map<Decider, Standing>()
  readonly #unanswered = new Map<number, Unanswered>()
  #number = 0

  constructor(parts: InstanceParts) {
    const { id, name, source, list, bus, clock, listener } = parts
    this.id = id
    this.#parts = parts
    const feed = list === null ? new PlainFeed(source) : new RegisteredFeed(list, clock, id, name)
    this.follower = new Follower(
      feed,
      clock,
      { take: (reading) => this.#hand(reading), applied: () => this.#applied() },
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
    this.#deciders.set(decider, { joined, applied: 0, history: 0, taken: Promise.resolve() })
  }

  /** The decider makes no decisions any more. */
  part(decider: Decider): void {
    this.#deciders.delete(decider)
  }

  announce(committed: Committed): Promise<void> {
    const begun = this.#parts.clock.now()
    const number = ++this.#number
    return new Promise((resolve) => {
      const done = (by: Answered['by']) => {
        if (!this.#unanswered.delete(number)) return
        callOff()
        this.#parts.listener.answered({ by, after: this.#parts.clock.now() - begun })
        if (by === 'waited') this.#forgetSilent(unanswered)
        resolve()
      }
      const callOff = this.#parts.clock.after(LEASE + MARGIN, () => done('waited'))
      const barriers = new AcknowledgementBarrier(committed.seq, () => done('acknowledged'))
      const unanswered: Unanswered = { begun, barriers, listedAt: Number.POSITIVE_INFINITY }
      this.#unanswered.set(number, unanswered)
      // A decider that fails to apply the changes counts as silent: the write waits.
      this.#tellOwn(numbered(committed)).then(
        () => barriers.ownHaveForgotten(),
        () => {},
      )
      this.#tellOthers(committed, number)
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

  #hand(reading: Reading): void {
    for (const [decider, standing] of this.#deciders) standing.taken = handed(decider, standing, reading)
    const { list, bus } = this.#parts
    if (list !== null && bus?.up !== true && reading.changes?.length !== 0) void this.#sayApplied()
  }

  /**
   * The `applied` of the next beat: a worker that has not confirmed a reading may still decide on the state before it.
   */
  #applied(): number {
    let applied = this.follower.position?.seq ?? 0
    for (const standing of this.#deciders.values()) applied = Math.min(applied, standing.applied)
    return applied
  }

  /** Without messages, the list tells writers that the changes are applied, so the next beat is sent at once. */
  async #sayApplied(): Promise<void> {
    await this.#allTaken()
    this.#parts.clock.after(0, () => void this.follower.renew().catch(() => {}))
  }

  async #allTaken(): Promise<void> {
    await Promise.all([...this.#deciders.values()].map(({ taken }) => taken))
  }

  async #tellOwn(changes: readonly NumberedChange[]): Promise<void> {
    await Promise.all([...this.#deciders.keys()].map((decider) => decider.tell(changes)))
  }

  #tellOthers(committed: Committed, number: number): void {
    const { bus, list } = this.#parts
    if (list === null) return this.#tellNobody(number)
    const { seq } = committed
    const changes = committed.changes.length > MAX_TOLD ? null : numbered(committed)
    bus?.announce({ from: this.id, number, seq, changes })
    this.#look(list, number)
  }

  #tellNobody(number: number): void {
    const { clock, answersFrom = Number.NEGATIVE_INFINITY } = this.#parts
    const wait = answersFrom - clock.now()
    const listed = () => this.#unanswered.get(number)?.barriers.listed([])
    if (wait > 0) clock.after(wait, listed)
    else listed()
  }

  /** Reads the list, repeatedly while an acknowledgement is missing. */
  #look(list: InstanceList, number: number): void {
    list
      .instances()
      .then(
        (instances) => this.#listed(number, instances),
        () => {},
      )
      .finally(() => {
        if (!this.#unanswered.has(number)) return
        this.#parts.clock.after(LOOK_EVERY, () => {
          if (this.#unanswered.has(number)) this.#look(list, number)
        })
      })
  }

  #listed(number: number, instances: readonly ListedInstance[]): void {
    const unanswered = this.#unanswered.get(number)
    if (unanswered === undefined) return
    unanswered.listedAt = Math.min(unanswered.listedAt, this.#parts.clock.now())
    unanswered.barriers.listed(instances.filter(({ id }) => id !== this.id))
  }

  /**
   * An instance without a beat for LEASE + MARGIN after the list was read makes no decisions until it registers again.
   */
  #forgetSilent({ barriers, listedAt }: Unanswered): void {
    const { clock, list } = this.#parts
    const wait = Math.max(0, listedAt + LEASE + MARGIN - clock.now())
    for (const [id, beat] of barriers.missing)
      clock.after(wait, () => void list?.forget(id, beat).catch(() => {}))
  }

  /** An announcement of another instance. */
  async #announced({ from, number, seq, changes }: Announcement): Promise<void> {
    if (from === this.id) return
    try {
      if (changes === null) await this.#readUpTo(seq)
      else await this.#tellOwn(changes)
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
    await this.#allTaken()
    if (this.#applied() < seq) throw new Error('the feed does not show the change that was announced')
  }

  #acknowledged({ to, from, number }: Acknowledgement): void {
    const unanswered = this.#unanswered.get(number)
    if (to !== this.id || unanswered === undefined) return
    const after = this.#parts.clock.now() - unanswered.begun
    if (unanswered.barriers.acknowledged(from)) this.#parts.listener.acknowledged(after)
  }
}

async function handed(decider: Decider, standing: Standing, reading: Reading): Promise<void> {
  const late = reading.noted < standing.joined
  // Numbers of another history are not comparable, nor are confirmations that are still on their way.
  if (reading.changes === null) {
    standing.applied = 0
    standing.history++
  }
  const { history } = standing
  try {
    await decider.take(late ? { ...reading, noted: Number.NEGATIVE_INFINITY } : reading)
    if (standing.history === history) standing.applied = reading.head.seq
  } catch {
    // The decider may not have dropped what changed: `applied` stays as it was.
  }
}
