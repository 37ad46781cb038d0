/**
 * The lease: the right of one process to decide from memory. This page is the whole protocol.
 *
 * Words. The *store* is the only authority; each committed write adds numbered *changes* to its feed (`seq`, in commit
 * order, without gaps). An *instance* is a gateway, a process and its workers, that is on the store's list of
 * instances. A *decider* is a process that decides requests; it has memory and a lease.
 *
 * Reading (`follower.ts`). An instance, a few times a second,
 *   1. notes the monotonic clock,
 *   2. reads the feed in one snapshot and, in the same statement, gives a sign of life on the list (its `beat`),
 *   3. hands all changes to its deciders, each of which forgets what changed,
 *      and may then decide from memory until the noted time + LEASE.
 * Where the list doesn't have it (any more), it registers, durably, and only a reading begun after that gives a lease.
 *
 * Writing (`instance.ts`). A writer commits, then reads the list and tells all deciders of all instances on it; each
 * forgets what changed and acknowledges. The writer answers 2xx when every instance that was on the list has
 * acknowledged for all its deciders, by message or by the `applied` of its beat, or has left the list, or when
 * LEASE + MARGIN have passed since the commit. There is no third case. An instance that has given no sign of life for
 * that long is taken off the list, on condition that its beat is still the one that was seen.
 *
 * Why nothing stale gets out. Let a write be committed at c and answered at a, and let a request start at t > a on a
 * decider with a live lease, noted at n > t - LEASE. Suppose that the decider has not forgotten what the write changed.
 * Then the reading that began at n had a snapshot from before c, hence n < c, and so t < c + LEASE: the answer was not
 * given by time. So the list, read after c, did not name the instance, or named it no more. It was on the list when the
 * reading's statement ran, before c: the statement says so. So it was taken off between then and the answer. Leaving is
 * done after the last decision. To be taken off, its beat must have stood still for LEASE + MARGIN after having been
 * read; the reading begun at n changed the beat, so n + LEASE had passed when it was taken off. Either way no lease
 * from n was live at t: a contradiction.
 *
 * Without a live lease a request waits for a reading that began after the request did, or for one that gives a lease. The
 * former shows every write that was committed before the request, hence every one that was answered before it: such a
 * reading is good for that request, however long the store took for it, and for no later one.
 *
 * A beat is not waited for on the store's disk, so a crash of the store may undo some; what was seen to stand still may
 * then have moved. So nobody is taken off by a connection that is younger than the watch (the store's `forget`).
 *
 * Valid as long as (1) the store answers a snapshot that has all that was committed before the statement began: no
 * reading from replicas; (2) monotonic clocks of two machines differ in speed by less than MARGIN / LEASE; they are
 * never compared with each other, and the wall clock only ever ends a lease early (a machine that slept). Messages may
 * be lost, late, doubled or out of order; Redis may forget everything; processes may stop, freeze and thaw at any point.
 */

import type { NumberedChange, Position } from '../../seats-admin/model/change.ts'
import type { ChangeListener, Reading } from './change.ts'
import { samePosition } from './change.ts'
import type { Clock } from './clock.ts'

/** Milliseconds for which one reading of the feed is good. */
export const LEASE = 1000
/** Milliseconds a writer waits beyond LEASE, for clocks of machines that run at slightly different speeds. */
export const MARGIN = 250

/** Reads the feed when asked to; its reading comes to {@link Lease.take} before the promise resolves. */
export interface Renewer {
  /** Rejects when the store can't be asked. */
  renew(): Promise<void>
}

export class Lease {
  readonly #renewer: Renewer
  readonly #listeners: readonly ChangeListener[]
  readonly #clock: Clock
  #position: Position | null = null
  #until = Number.NEGATIVE_INFINITY
  #wallUntil = Number.NEGATIVE_INFINITY
  /** When the newest reading began. */
  #noted = Number.NEGATIVE_INFINITY
  #ended = false

  constructor(renewer: Renewer, listeners: readonly ChangeListener[], clock: Clock) {
    this.#renewer = renewer
    this.#listeners = listeners
    this.#clock = clock
  }

  /** The newest change that a reading has shown; 0 before the first. */
  get seq(): number {
    return this.#position?.seq ?? 0
  }

  /** Memory may be used for a request that starts now. */
  live(): boolean {
    return this.#clock.now() < this.#until && this.#clock.wall() < this.#wallUntil
  }

  /**
   * Resolves once memory may be used for a request that started before the call. Rejects when the store can't be asked.
   * A reading that began after the request shows every write that was answered before the request, however long the
   * store took for it: such a request needs no lease.
   */
  async renewed(): Promise<void> {
    const asked = this.#clock.now()
    await this.#renewer.renew()
    // That reading may have been under way for long already, or this process frozen since.
    if (!this.#covers(asked)) await this.#renewer.renew()
    if (!this.#covers(asked)) throw new Error('the store answers too slowly')
  }

  #covers(asked: number): boolean {
    return this.live() || (this.#noted >= asked && !this.#ended)
  }

  /** Forgets what a reading shows to have changed; from then on memory is as new as the reading. */
  take(reading: Reading): void {
    const { noted, from, head, changes, listed = true } = reading
    const joins = changes !== null && samePosition(from, this.#position)
    for (const listener of this.#listeners) listener.take(joins ? changes : null, head)
    this.#position = head
    this.#noted = noted
    if (this.#ended || !listed) return
    const left = noted + LEASE - this.#clock.now()
    this.#until = noted + LEASE
    this.#wallUntil = this.#clock.wall() + left
  }

  /** Forgets what a message says to have changed. Gives no right to anything. */
  tell(changes: readonly NumberedChange[]): void {
    for (const listener of this.#listeners) listener.announced(changes)
  }

  /** From now on, nothing is decided from memory, whatever readings are under way. */
  end(): void {
    this.#ended = true
    this.#until = Number.NEGATIVE_INFINITY
  }
}
