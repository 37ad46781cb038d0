/**
 * This gateway as one of a fleet: follows the feed for all its deciders (this process, or its workers), hands on what
 * others announce, and announces what its own have written. See `lease.ts` for why. One a process tree.
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

/** A process of this instance that decides. */
export interface Decider {
  /** Resolves once it has forgotten what changed, or has ended. */
  take(reading: Reading): Promise<void> | void
  /** Resolves once it has forgotten what changed, or has ended. */
  tell(changes: readonly NumberedChange[]): Promise<void> | void
}

/** What keeps a process's memory true: its own instance, or the primary's, over a line. */
export interface Coherence extends Renewer {
  /** From now on the decider is told of all changes. */
  join(decider: Decider): void
  /**
   * A write of this process has been committed. Resolves when no decider of any instance decides on the state before;
   * never rejects, and never later than LEASE + MARGIN and a timer's delay.
   */
  announce(committed: Committed): Promise<void>
}

/** How a write came to be answered. */
export interface Answered {
  /** `acknowledged` by all; or `waited` until no lease from before can be live. */
  readonly by: 'acknowledged' | 'waited'
  /** Milliseconds since the commit was heard of. */
  readonly after: number
}

export interface InstanceListener {
  readonly feed: FeedListener
  answered(answered: Answered): void
  /** Milliseconds that one other instance took. */
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
   * Monotonic ms before which no write is answered: until then a process of the instance before this one may hold a
   * lease. Left out: none does.
   */
  readonly answersFrom?: number
}

/** Changes that go into one message. */
const MAX_TOLD = 1000
/** Milliseconds between two looks at the list while somebody's acknowledgement is missing. */
const LOOK_EVERY = 50

/** What is known of a decider. */
interface Standing {
  /** Readings that began before give it no lease: it has not been told of what was written since. */
  readonly joined: number
  /** The newest reading that it has taken, by its own word. */
  applied: number
  /** Grows when the history may be another: what is said of readings from before is then of no use. */
  history: number
  /** Settles when it has taken the reading that was handed to it last. */
  taken: Promise<void>
}

/** A write that is not answered yet. */
interface Unanswered {
  readonly begun: number
  readonly barriers: AcknowledgementBarrier
  /** When the list was read first, after the commit. */
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

  /** It decides nothing any more. */
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
      // One that fails to forget is as one that does not answer: time will tell.
      this.#tellOwn(numbered(committed)).then(
        () => barriers.ownHaveForgotten(),
        () => {},
      )
      this.#tellOthers(committed, number)
    })
  }

  /** Ends following and leaves the list. The deciders must have ended before. */
  async close(): Promise<void> {
    await this.follower.stop()
    const { list, bus } = this.#parts
    // Where that fails, the next writer waits a lease for us, once.
    await list?.leave(this.id).catch(() => {})
    await bus?.close()
  }

  #hand(reading: Reading): void {
    for (const [decider, standing] of this.#deciders) standing.taken = handed(decider, standing, reading)
    const { list, bus } = this.#parts
    if (list !== null && bus?.up !== true && reading.changes?.length !== 0) void this.#sayApplied()
  }

  /** What the next beat says: a worker that has not taken a reading yet may decide on the state before it. */
  #applied(): number {
    let applied = this.follower.position?.seq ?? 0
    for (const standing of this.#deciders.values()) applied = Math.min(applied, standing.applied)
    return applied
  }

  /** Without messages, the list is how a writer learns that we have heard: the next beat says so, hence at once. */
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

  /** Reads the list; and again as long as somebody on it is missing. */
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

  /** Who gives no sign of life for LEASE + MARGIN after the list was read decides nothing until it has registered anew. */
  #forgetSilent({ barriers, listedAt }: Unanswered): void {
    const { clock, list } = this.#parts
    const wait = Math.max(0, listedAt + LEASE + MARGIN - clock.now())
    for (const [id, beat] of barriers.missing)
      clock.after(wait, () => void list?.forget(id, beat).catch(() => {}))
  }

  /** Another instance has written. */
  async #announced({ from, number, seq, changes }: Announcement): Promise<void> {
    if (from === this.id) return
    try {
      if (changes === null) await this.#readUpTo(seq)
      else await this.#tellOwn(changes)
    } catch {
      // Not applied, hence not acknowledged: the writer waits until our lease has run out.
      return
    }
    this.#parts.bus?.acknowledge({ to: from, from: this.id, number })
  }

  /** A reading under way may have begun before that change was committed: then it takes another. */
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
  // Numbers of another history say nothing of this one, nor do answers that are still on their way.
  if (reading.changes === null) {
    standing.applied = 0
    standing.history++
  }
  const { history } = standing
  try {
    await decider.take(late ? { ...reading, noted: Number.NEGATIVE_INFINITY } : reading)
    if (standing.history === history) standing.applied = reading.head.seq
  } catch {
    // It may not have forgotten: what it has applied stays what it was.
  }
}
