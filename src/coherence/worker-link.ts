/** The protocol between a primary, which is the instance, and its workers, which decide. See `lease.ts`. */

import type { Committed, NumberedChange } from '../../seats-admin/model/change.ts'
import type { Reading } from './change.ts'
import type { Clock } from './clock.ts'
import type { History } from './history.ts'
import type { Coherence, Decider, Instance } from './instance.ts'
import { LEASE, MARGIN } from './lease.ts'

/** Milliseconds that a worker waits for a reading: the longest that the store takes for one, and the line's time. */
export const RENEWAL = 2250

/** A line between two processes: nothing is lost or overtaken while both live. */
export interface WorkerChannel {
  /** Rejects as the other end does, or with a `ProcessEnded` when its process has ended. */
  call(method: string, argument?: unknown): Promise<unknown>
  notify(method: string, argument?: unknown): void
  serve(method: string, handler: (argument: unknown) => unknown): void
}

/** In the primary: a worker, from when it is ready to be told until its process has ended. */
export class RemoteDecider implements Decider {
  readonly #line: WorkerChannel
  readonly #instance: Instance

  /** @param history of the primary, which the worker begins with */
  constructor(line: WorkerChannel, instance: Instance, history: History) {
    this.#line = line
    this.#instance = instance
    line.serve('join', () => this.#join(history))
    line.serve('renew', () => instance.renew())
    line.serve('announce', (committed) => instance.announce(committed as Committed))
  }

  /** A process that has ended decides nothing. One that is frozen, or out of reach, resolves neither of these. */
  async take(reading: Reading): Promise<void> {
    await this.#line.call('reading', reading).catch(ifEnded)
  }

  async tell(changes: readonly NumberedChange[]): Promise<void> {
    await this.#line.call('changes', changes).catch(ifEnded)
  }

  /** Its process has ended. */
  ended(): void {
    this.#instance.part(this)
  }

  #join(history: History): void {
    this.#instance.join(this)
    const { head } = history
    if (head === null) return
    void this.take({ noted: Number.NEGATIVE_INFINITY, from: null, head, changes: history.recent() })
  }
}

/** Anything else may mean that it has not forgotten. */
function ifEnded(cause: unknown): void {
  if (!(cause instanceof Error && cause.name === 'ProcessEnded')) throw cause
}

/** In a worker: the instance it belongs to. */
export class RemoteInstance implements Coherence {
  readonly #line: WorkerChannel
  readonly #clock: Clock
  #renewal: Promise<void> | null = null

  constructor(line: WorkerChannel, clock: Clock) {
    this.#line = line
    this.#clock = clock
  }

  join(decider: Decider): void {
    this.#line.serve('reading', (reading) => decider.take(reading as Reading))
    this.#line.serve('changes', (changes) => decider.tell(changes as NumberedChange[]))
    this.#line.notify('join')
  }

  /** Single-flight; rejects when the primary does not answer within the time of a reading. */
  renew(): Promise<void> {
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  #renew(): Promise<void> {
    return new Promise((resolve, reject) => {
      const callOff = this.#clock.after(RENEWAL, () => reject(new Error('the primary does not answer')))
      this.#line
        .call('renew')
        .finally(callOff)
        .then(() => resolve(), reject)
    })
  }

  /** The primary may be frozen: what time alone proves needs no primary. */
  announce(committed: Committed): Promise<void> {
    return new Promise((resolve) => {
      const callOff = this.#clock.after(LEASE + MARGIN, resolve)
      this.#line.call('announce', committed).then(
        () => {
          callOff()
          resolve()
        },
        () => {},
      )
    })
  }
}
