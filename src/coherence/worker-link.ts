/** The protocol between the primary, which is the instance, and its workers, which decide. See `lease.ts`. */

import type { Committed, NumberedChange } from '../../seats-admin/model/change.ts'
import { NOTHING_OPEN, type OpenCounts, type ReachedInstance } from '../../seats-admin/model/revocation.ts'
import type { FleetView, InstanceSecrets } from '../../seats-admin/model/registered-instance.ts'
import type { Reading } from './feed-reading.ts'
import type { Clock } from './clock.ts'
import type { TablesAsOf } from './current-tables.ts'
import type { History } from './history.ts'
import type { Coherence } from './coherence.ts'
import type { Instance } from './instance.ts'
import { CUT_WITHIN } from './cut-reports.ts'
import type { Decider } from './deciders.ts'
import type { InstanceIdentity } from './feeds.ts'
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
  readonly #channel: WorkerChannel
  readonly #instance: Instance

  /** @param history the history of the primary, with which the worker begins */
  constructor(channel: WorkerChannel, instance: Instance, history: History) {
    this.#channel = channel
    this.#instance = instance
    channel.serve('join', () => this.#join(history))
    channel.serve('renew', () => instance.renew())
    channel.serve('files', () => instance.checkFiles())
    channel.serve('tables', () => instance.checkTables())
    channel.serve('announce', (committed) => instance.announce(committed as Committed))
    channel.serve('revoke', (committed) => instance.revoke(committed as Committed))
  }

  /**
   * Resolves if the process has ended, as it makes no more decisions. For a frozen process it never resolves.
   */
  async applyReading(reading: Reading): Promise<void> {
    await this.#channel.call('reading', reading).catch(ignoreEnded)
  }

  async applyAnnouncement(changes: readonly NumberedChange[]): Promise<void> {
    await this.#channel.call('changes', changes).catch(ignoreEnded)
  }

  /** A process that has ended has no open requests. */
  async cutBy(mark: number): Promise<OpenCounts | null> {
    try {
      return (await this.#channel.call('cut', mark)) as OpenCounts | null
    } catch (cause) {
      return hasEnded(cause) ? NOTHING_OPEN : null
    }
  }

  /** To be called when its process has ended. */
  ended(): void {
    this.#instance.leave(this)
  }

  #join(history: History): void {
    this.#instance.join(this)
    const { head } = history
    if (head === null) return
    const [noted, notedWall] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
    void this.applyReading({ noted, notedWall, from: null, head, changes: history.retained() })
  }
}

/** Any other failure may mean that the worker has not applied the changes. */
function ignoreEnded(cause: unknown): void {
  if (!hasEnded(cause)) throw cause
}

function hasEnded(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ProcessEnded'
}

/** Milliseconds that a worker waits for the primary's answer to a revocation. */
const REVOKED_WITHIN = CUT_WITHIN + 2 * MARGIN

/** The worker's instance, in the worker. */
export class RemoteInstance implements Coherence {
  readonly #channel: WorkerChannel
  readonly #clock: Clock
  readonly #identity: Pick<InstanceIdentity, 'id' | 'name'>
  #renewal: Promise<void> | null = null

  /** @param identity that of the primary's instance */
  constructor(channel: WorkerChannel, clock: Clock, { id, name }: Pick<InstanceIdentity, 'id' | 'name'>) {
    this.#channel = channel
    this.#clock = clock
    this.#identity = { id, name }
  }

  join(decider: Decider): void {
    this.#channel.serve('reading', (reading) => decider.applyReading(reading as Reading))
    this.#channel.serve('changes', (changes) => decider.applyAnnouncement(changes as NumberedChange[]))
    this.#channel.serve('cut', (mark) => decider.cutBy?.(mark as number) ?? NOTHING_OPEN)
    this.#channel.notify('join')
  }

  /** Single-flight; rejects when the primary does not respond within the time of a reading. */
  renew(): Promise<void> {
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  /** Rejects as {@link renew}. */
  async checkFiles(): Promise<void> {
    await this.#ask('files')
  }

  /** Rejects as {@link renew}. */
  async checkTables(): Promise<TablesAsOf> {
    return (await this.#ask('tables')) as TablesAsOf
  }

  async #renew(): Promise<void> {
    await this.#ask('renew')
  }

  /** The fleet with the changes of a tenant. Rejects as {@link renew}. */
  readonly fleet = async (tenant: string): Promise<FleetView> => {
    return (await this.#ask('fleet', tenant)) as FleetView
  }

  /** The secrets of a tenant at each instance. Rejects as {@link renew}. */
  readonly fleetSecrets = async (tenant: string): Promise<readonly InstanceSecrets[]> => {
    return (await this.#ask('fleet-secrets', tenant)) as readonly InstanceSecrets[]
  }

  #ask(method: string, argument?: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(RENEWAL, () => reject(new Error('the primary does not respond')))
      this.#channel.call(method, argument).finally(cancel).then(resolve, reject)
    })
  }

  /** Resolves after LEASE + MARGIN even if the primary is frozen: the elapsed time alone is sufficient. */
  announce(committed: Committed): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(LEASE + MARGIN, resolve)
      this.#channel.call('announce', committed).then(
        () => {
          cancel()
          resolve()
        },
        () => {},
      )
    })
  }

  /** If the primary is frozen, nothing is known of any instance but that no earlier lease is live. */
  revoke(committed: Committed): Promise<readonly ReachedInstance[]> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(REVOKED_WITHIN, () =>
        resolve([
          { ...this.#identity, how: 'lease_ended', ms: LEASE + MARGIN, cut: null, understands: true },
        ]),
      )
      this.#channel.call('revoke', committed).then(
        (reached) => {
          cancel()
          resolve(reached as readonly ReachedInstance[])
        },
        () => {},
      )
    })
  }
}
