/** The protocol between the primary, which is the instance, and its workers, which decide. See `lease.ts`. */

import type { Committed, NumberedChange } from '../../seats-admin/model/change.ts'
import type { Reading } from './change.ts'
import type { Clock } from './clock.ts'
import type { History } from './history.ts'
import type { Coherence, Decider, Instance } from './instance.ts'
import { LEASE, MARGIN } from './lease.ts'

/** Milliseconds that a worker waits for a reading: the store's longest read, and the time on the channel. */
export const RENEWAL = 2250

/** A channel between two processes: it loses and reorders nothing while both live. */
export interface WorkerChannel {
  /** Rejects as the other end does, or with a `ProcessEnded` when its process has ended. */
  call(method: string, argument?: unknown): Promise<unknown>
  notify(method: string, argument?: unknown): void
  serve(method: string, handler: (argument: unknown) => unknown): void
}

/** A worker, in the primary: from when it can receive changes until its process has ended. */
export class RemoteDecider implements Decider {
  readonly #line: WorkerChannel
  readonly #instance: Instance

  /** @param history of the primary; the worker begins with it */
  constructor(line: WorkerChannel, instance: Instance, history: History) {
    this.#line = line
    this.#instance = instance
    line.serve('join', () => this.#join(history))
    line.serve('renew', () => instance.renew())
    line.serve('announce', (committed) => instance.announce(committed as Committed))
  }

  /** A process that has ended makes no decisions. A frozen or unreachable one resolves neither of these. */
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

/** Any other failure may mean that the worker has not applied the changes. */
function ifEnded(cause: unknown): void {
  if (!(cause instanceof Error && cause.name === 'ProcessEnded')) throw cause
}

/** The worker's instance, in the worker. */
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

  /** Single-flight; rejects when the primary does not respond within the time of a reading. */
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

  /** Resolves after LEASE + MARGIN even if the primary is frozen: the elapsed time alone is sufficient. */
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
