/**
 * Records completed sign-ins in the process: for one process without Redis, and to bound what one gateway
 * records in Redis.
 *
 * An unexpired id is never dropped, because its sign-in could then complete twice. At the limit, further
 * sign-ins are refused. Each tenant has a reserved share; further ids use a common pool, and one tenant gets
 * at most half of it. A flood at one tenant thus leaves room for all others.
 */

import { performance } from 'node:perf_hooks'
import { randomBytes } from 'node:crypto'
import type { Ephemeral } from '../ports.ts'

interface EphemeralLimits {
  /** Ids reserved for each tenant. */
  readonly reserved?: number
  /** Further ids of all tenants together. */
  readonly pool?: number
  /** Ids of one tenant. */
  readonly perTenant?: number
}

/** Expired ids removed per call. Each call adds one id, so expired ids do not accumulate. */
const SWEEP_BATCH = 64

export class ProcessEphemeral implements Ephemeral {
  /** `tenant id` → expiry in monotonic whole seconds, oldest first. */
  readonly #used = new Map<string, number>()
  readonly #counts = new Map<string, number>()
  readonly #epoch = randomBytes(6).toString('base64url')
  readonly #limits: Required<EphemeralLimits>
  readonly #clock: () => number
  #pooled = 0

  /** @param clock monotonic ms */
  constructor(limits: EphemeralLimits = {}, clock: () => number = () => performance.now()) {
    this.#limits = { reserved: 1_000, pool: 100_000, perTenant: 50_000, ...limits }
    this.#clock = clock
  }

  async epoch(): Promise<string> {
    return this.#epoch
  }

  async use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean> {
    return epoch === this.#epoch && this.add(tenant, id, ttlMs)
  }

  /**
   * @returns whether the id is new
   * @throws at the limit
   */
  add(tenant: string, id: string, ttlMs: number): boolean {
    const now = this.#clock()
    this.#sweep(now)
    const key = `${tenant} ${id}`
    if ((this.#used.get(key) ?? 0) * 1000 > now) return false
    this.remove(tenant, id)
    const count = this.#counts.get(tenant) ?? 0
    const pooled = count >= this.#limits.reserved
    if (count >= this.#limits.perTenant || (pooled && this.#pooled >= this.#limits.pool))
      throw new Error(`tenant ${tenant} has reached the limit of ${count} recorded sign-ins`)
    this.#used.set(key, Math.ceil((now + ttlMs) / 1000))
    this.#counts.set(tenant, count + 1)
    if (pooled) this.#pooled++
    return true
  }

  remove(tenant: string, id: string): void {
    if (!this.#used.delete(`${tenant} ${id}`)) return
    const count = this.#counts.get(tenant) ?? 0
    if (count > this.#limits.reserved) this.#pooled--
    if (count > 1) this.#counts.set(tenant, count - 1)
    else this.#counts.delete(tenant)
  }

  /** Number of ids, expired ones included. */
  get size(): number {
    return this.#used.size
  }

  #sweep(now: number): void {
    let left = SWEEP_BATCH
    for (const [key, until] of this.#used) {
      if (until * 1000 > now || left-- === 0) return
      const at = key.indexOf(' ')
      this.remove(key.slice(0, at), key.slice(at + 1))
    }
  }
}

/** Records in a shared store, bounded by a record of this process. */
export function boundedEphemeral(local: ProcessEphemeral, shared: Ephemeral): Ephemeral {
  return {
    epoch: () => shared.epoch(),
    async use(tenant, epoch, id, ttlMs) {
      if (!local.add(tenant, id, ttlMs)) return false
      try {
        return await shared.use(tenant, epoch, id, ttlMs)
      } catch (cause) {
        // The shared record decides: when it is unavailable, the request may be repeated.
        local.remove(tenant, id)
        throw cause
      }
    },
  }
}

/** A channel between a worker and the primary; see `coherence/worker-link.ts`. */
interface WorkerChannel {
  /** Rejects if the other process does not respond in time. */
  ask(method: string, argument?: unknown): Promise<unknown>
  serve(method: string, handler: (argument: unknown) => unknown): void
}

const EPOCH = 'ephemeral.epoch'
const USE = 'ephemeral.use'

/** The record as a worker sees it. The primary keeps it, because a callback may reach any worker. */
export function remoteEphemeral(channel: WorkerChannel): Ephemeral {
  return {
    epoch: async () => String(await channel.ask(EPOCH)),
    use: async (...use) => (await channel.ask(USE, use)) === true,
  }
}

/** Answers the workers, in the primary. */
export function serveEphemeral(channel: WorkerChannel, ephemeral: Ephemeral): void {
  channel.serve(EPOCH, () => ephemeral.epoch())
  channel.serve(USE, (argument) => ephemeral.use(...(argument as [string, string, string, number])))
}
