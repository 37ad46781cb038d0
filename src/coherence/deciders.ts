/** The processes of an instance that decide requests, and what each of them has applied of the change feed. */

import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { NOTHING_OPEN, type OpenCounts, sumOfOpen } from '../../seats-admin/model/revocation.ts'
import type { Reading } from './feed-reading.ts'

/** A process of this instance that decides requests. */
export interface Decider {
  /** Resolves once the decider has dropped what changed, or its process has ended. */
  applyReading(reading: Reading): Promise<void> | void
  /** Resolves once the decider has dropped what changed, or its process has ended. */
  applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> | void
  /**
   * Resolves with what it has cut for the revocation of this mark, once it has received that one: null if it
   * does not know. Left out: it has no open requests.
   */
  cutBy?(mark: number): Promise<OpenCounts | null>
}

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

export class Deciders {
  readonly #states = new Map<Decider, DeciderState>()

  /** @param now monotonic ms: the decider receives all announcements from then on */
  join(decider: Decider, now: number): void {
    this.#states.set(decider, { joined: now, applied: 0, history: 0, confirmed: Promise.resolve() })
  }

  /** The decider makes no decisions any more. */
  leave(decider: Decider): void {
    this.#states.delete(decider)
  }

  /** Passes a reading on to each decider, which confirms it later. */
  applyReading(reading: Reading): void {
    for (const [decider, state] of this.#states) state.confirmed = deliver(decider, state, reading)
  }

  /** Resolves once each decider has dropped what changed. Rejects if one of them fails to. */
  async applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> {
    await Promise.all([...this.#states.keys()].map((decider) => decider.applyAnnouncement(changes)))
  }

  /** Resolves once each decider has confirmed the latest reading, or failed to apply it. */
  async confirmed(): Promise<void> {
    await Promise.all([...this.#states.values()].map(({ confirmed }) => confirmed))
  }

  /**
   * The newest change that all deciders have confirmed: a worker that has not confirmed a reading may still
   * decide on the state before it.
   *
   * @param newest the newest change of the latest reading
   */
  applied(newest: number): number {
    let applied = newest
    for (const state of this.#states.values()) applied = Math.min(applied, state.applied)
    return applied
  }

  /**
   * Resolves with what all deciders have cut for the revocation of this mark; null: one of them does not know.
   * While one does not respond, it does not resolve.
   */
  async cutBy(mark: number): Promise<OpenCounts | null> {
    const cuts = await Promise.all(
      [...this.#states.keys()].map((decider) => decider.cutBy?.(mark) ?? NOTHING_OPEN),
    )
    return cuts.every((cut) => cut !== null) ? sumOfOpen(cuts) : null
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
