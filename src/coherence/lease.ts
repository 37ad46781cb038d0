/**
 * The lease: the right of one process to decide from memory. This comment is the whole protocol.
 * `decision/engine.ts` asks for the lease at each decision.
 *
 * Terms. The *store* is the only authority. Each committed write appends numbered *changes* to its feed
 * (`seq`, in commit order, without gaps). An *instance* is a gateway (a process and its workers) on the
 * store's list of instances. A *decider* is a process that decides requests; it has memory and a lease.
 *
 * Reading (`follower.ts`). Several times a second, an instance
 *   1. notes the monotonic clock, and the wall clock, which goes on while the machine sleeps,
 *   2. reads the feed in one snapshot and, in the same statement, updates its `beat` on the list (its sign of
 *      life),
 *   3. passes all changes to its deciders. Each of them drops what changed, and may then decide from memory
 *      until the noted time + LEASE, on both clocks.
 * An instance that is not listed (any more) registers durably. Only a reading that begins after that gives a
 * lease.
 *
 * Writing (`instance.ts`). A writer commits, then reads the list and announces the changes to all deciders of
 * all listed instances. Each decider drops what changed, and acknowledges once it has received every earlier
 * change too: if it has not, it reads the feed. The writer responds with 2xx when every listed instance has
 * acknowledged for all its deciders (by message or by the `applied` of its beat) or has left the list, or
 * when LEASE + MARGIN have passed since the commit. There is no third case. An instance without a sign of
 * life for that long is removed from the list, on condition that its beat is still the one that was read.
 *
 * Proof that no stale decision follows a response. Let a write be committed at c and its response be sent at
 * a. Let a request start at t > a on a decider with a live lease, noted at n > t - LEASE. Suppose that the
 * decider has not dropped what the write changed. Then the reading that began at n had a snapshot from before
 * c, hence n < c, and so t < c + LEASE: the response was not sent because of time. So the list, read after c,
 * did not contain the instance, or contained it no more at a later read. The instance was listed when the
 * statement of its reading ran, before c: the statement reports it. So it was removed between then and the
 * response. An instance leaves the list only after its last decision. To be removed, its beat must have been
 * unchanged for LEASE + MARGIN after it was read. The reading that began at n changed the beat, so n + LEASE
 * had passed by the removal. In either case no lease from n was live at t: a contradiction.
 *
 * Without a live lease, a request waits for a reading that began after the request, or for one that gives a
 * lease. The former shows every write that was committed before the request, hence every one whose response
 * preceded it. Such a reading serves that request, however long the store took for it, and no later one.
 *
 * One state. A decider has *received* the feed up to a change once it has each change up to it, by readings
 * or by announcements. Every value in its memory is the store's as of that position: a value that the store
 * shows as of a later one is used once the feed has been received up to there (`readUpTo`). Hence a decision
 * that waits for nothing is made on the state of that position, which includes every write that was
 * acknowledged. `decision/seats/decision-reads.ts` has the decisions that wait.
 *
 * Revoking (`reached-instances.ts`). A revocation is a write whose change is a notice. An instance that
 * receives it acknowledges, then cuts what it has open by the state before, in each of its processes
 * (`pipeline/reevaluation.ts`), and says how much: by a message, and with its next beats. The answer names this
 * instance and those of the first list after the commit.
 *   - `acknowledged` proves what the acknowledgement of any write does: no process of the instance decides on
 *     the state before.
 *   - `cut` proves that each process has also looked at all that it had open when it received the notice, and
 *     has ended what the notice concerns. A request that was not decided at that moment is decided on a state
 *     that includes the notice. Null: some process has not said so within two seconds of the commit.
 *   - `lease_ended` proves only that no lease from before the commit is live. The instance may be dead, or
 *     frozen with open connections, or without the store: what it has open is cut once it receives the notice.
 *     An instance that leaves the list after the commit counts as one of these.
 * An instance that writers have removed from the list for its silence counts as `lease_ended` for a minute
 * (`Registry.reachable`), unless its process has certainly ended: it has no lease, and cuts in the same way when it
 * goes on. Messages that are repeated, reordered or late change none of this: each instance counts once, by
 * the mark of the commit.
 *
 * Files (`current-files.ts`). Tables and secrets are in files, which the feed does not show. With each beat an
 * instance shows by which ones all its processes decide. `cli/fleet-wait.ts` waits for
 * each listed instance that shows others, unless its beat was the same at two readings of the list, the second
 * of which began LEASE + MARGIN after the end of the first: let them begin at r and end at e. The reading of the
 * feed that made this beat was noted before e, so its lease has ended by then. A lease that is live later is from
 * a reading that ended without a live lease, and its beat came after the second reading of the list. Such a
 * reading counts only once the files were read again, which is after r: so by then the process decides by the
 * files as they were at r, or later. A request without a lease waits for a reading of the files, too.
 *
 * Tables of the store (`current-tables.ts`). A push is two writes. The first one stores a candidate. Each
 * instance that receives its change compiles it in all its processes, and stores an answer. The writer waits
 * until each listed instance has answered, unless its beat has not changed for LEASE + MARGIN. Without a fault,
 * the second write makes the candidate the next version. Its change is the *activation*, a notice as that of a
 * revocation.
 *   - An instance with the candidate activates it before its deciders apply the change, so a decider that
 *     acknowledges decides by it.
 *   - A decider whose tables are not those of the newest activation that it has received decides nothing until
 *     they are read from the store, and nothing before it has received all changes up to the activation: its
 *     memory would be of an earlier state than its tables. So the proof above holds for tables as for a Seat.
 *   - After the first reading, and after one of another history, the newest activation is unknown until the
 *     store was read once more.
 *   - A version is identified by its number and the digest of its files. A store that was restored gives the
 *     same numbers to other files, and lower numbers to changes. So an activation that arrives for the first time
 *     with a lower number than the newest one makes that one unknown, too: by the number alone, the message
 *     of a push after a restore would be acknowledged by a decider that has not read the restored feed yet.
 *   - Tables are part of the one state of a decision. A decision that has waited while they were replaced is
 *     made again by the new ones (`pipeline/stages/evaluate.ts`). No request is let through without a lease, or a
 *     reading that covers it, not even one to a public route.
 * The answers tell the writer of faults before anything has changed. The proof does not need them.
 *
 * The store does not wait for its disk at a beat, so a crash of the store may undo some beats: one that
 * seemed unchanged may have changed. So a connection removes no instance that it has not watched for long
 * enough itself (the store's `forget`).
 *
 * Assumptions. (1) The store responds with a snapshot of everything that was committed before the statement
 * began: no reads from replicas. (2) The speeds of two machines' monotonic clocks differ by less than MARGIN
 * / LEASE. The clocks are never compared with each other, and the wall clock only ever ends a lease early (a
 * machine that slept). Messages may be lost, late, duplicated or reordered; Redis may lose everything;
 * processes may stop, freeze and resume at any point.
 */

import type { NumberedChange, Position } from '../../seats-admin/model/change.ts'
import type { ChangeListener, Reading } from './feed-reading.ts'
import { samePosition } from './feed-reading.ts'
import { ConsecutiveNumbers } from '../lib/consecutive-numbers.ts'
import type { Clock } from './clock.ts'

/** Milliseconds that one reading of the feed is valid. */
export const LEASE = 1000
/**
 * Milliseconds that a writer waits beyond LEASE, as the clocks of machines run at slightly different speeds.
 */
export const MARGIN = 250

/**
 * Readings until one of them began after the call. One may be in flight; and for a worker the primary may
 * have begun another one while the response of the first was on its way.
 */
const MAX_READINGS = 3

/** Reads the feed on demand. {@link Lease.applyReading} gets the reading before the promise resolves. */
export interface Renewer {
  /** Rejects when the store can't be read. */
  renew(): Promise<void>
}

export class Lease {
  readonly #renewer: Renewer
  readonly #listeners: readonly ChangeListener[]
  readonly #clock: Clock
  #position: Position | null = null
  /** The numbers of the changes that have arrived, by readings or by announcements. */
  readonly #received = new ConsecutiveNumbers()
  /** The calls that wait for all changes up to a number. */
  readonly #waits = new Set<{ readonly seq: number; readonly resolve: () => void }>()
  #until = Number.NEGATIVE_INFINITY
  #wallUntil = Number.NEGATIVE_INFINITY
  /** Monotonic ms at which the newest reading began. */
  #noted = Number.NEGATIVE_INFINITY
  #ended = false

  constructor(renewer: Renewer, listeners: readonly ChangeListener[], clock: Clock) {
    this.#renewer = renewer
    this.#listeners = listeners
    this.#clock = clock
  }

  /** The number of the newest change of a reading; 0 before the first. */
  get seq(): number {
    return this.#position?.seq ?? 0
  }

  /** Each change up to this number has been received. */
  get received(): number {
    return this.#received.end
  }

  /** Whether memory may be used for a request that starts now. */
  live(): boolean {
    return this.#clock.now() < this.#until && this.#clock.wall() < this.#wallUntil
  }

  /**
   * Resolves once memory may be used for a request that started before the call. Rejects when the store can't
   * be read. A reading that began after the request shows every write whose response preceded the request,
   * however long the store took for it: such a request needs no lease.
   */
  async renewed(): Promise<void> {
    const since = this.#clock.now()
    await this.#renewer.renew()
    // The reading may have begun long before the call, or this process was frozen since.
    if (!this.#covers(since)) await this.#renewer.renew()
    if (!this.#covers(since)) throw new Error('the store responds too slowly')
  }

  /**
   * Resolves once all changes up to this one have been received, in whatever way. Rejects when the store
   * can't be read.
   */
  async readUpTo(seq: number): Promise<void> {
    const { promise: arrived, resolve } = Promise.withResolvers<void>()
    const wait = { seq, resolve }
    this.#waits.add(wait)
    let cause: unknown = null
    try {
      // An announcement that was overtaken arrives long before a slow store responds. A reading in flight may
      // fail.
      for (let readings = 0; readings < MAX_READINGS && this.#received.end < seq; readings++)
        await Promise.race([this.#renewer.renew().catch((failed: unknown) => (cause = failed)), arrived])
    } finally {
      this.#waits.delete(wait)
    }
    if (this.#received.end < seq)
      throw new Error('the feed does not show a change that the store shows', { cause })
  }

  #arrived(): void {
    for (const { seq, resolve } of this.#waits) if (seq <= this.#received.end) resolve()
  }

  /** @param since monotonic ms of the request */
  #covers(since: number): boolean {
    return this.live() || (this.#noted >= since && !this.#ended)
  }

  /** Applies the changes of a reading; memory is then as new as the reading. */
  applyReading(reading: Reading): void {
    const { noted, notedWall, from, head, changes, listed = true } = reading
    const isContiguous = changes !== null && samePosition(from, this.#position)
    for (const listener of this.#listeners) listener.applyReading(isContiguous ? changes : null, head)
    this.#position = head
    if (isContiguous) this.#received.completeUpTo(head.seq)
    else this.#received.restart(head.seq)
    this.#arrived()
    this.#noted = noted
    if (this.#ended || !listed) return
    this.#until = noted + LEASE
    this.#wallUntil = notedWall + LEASE
  }

  /**
   * Applies the changes of an announcement. It does not extend the lease. If earlier changes have not
   * arrived, it resolves once they have: an acknowledgement is one of all changes up to the announced one, as
   * the next decision is made on one state.
   */
  applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> | void {
    for (const listener of this.#listeners) listener.applyAnnouncement(changes)
    for (const { seq } of changes) this.#received.add(seq)
    this.#arrived()
    const last = changes.at(-1)?.seq ?? 0
    if (this.#received.end < last) return this.readUpTo(last)
  }

  /** Ends the lease for good, whatever readings are in flight. */
  end(): void {
    this.#ended = true
    this.#until = Number.NEGATIVE_INFINITY
  }
}
