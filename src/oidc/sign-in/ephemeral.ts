/**
 * Used sign-ins, kept in the process: for one process without Redis, and as the bound of what one gateway notes in Redis.
 *
 * An id that is not expired is never dropped, as its sign-in could be finished twice then. A full memory refuses. Each
 * tenant has places of its own; further ones come from a common pool, of which one tenant gets half at most. So a flood
 * at one tenant leaves places for every other.
 */

import { performance } from 'node:perf_hooks'
import { randomBytes } from 'node:crypto'
import type { Ephemeral } from '../ports.ts'

export interface EphemeralLimits {
  /** Ids that each tenant may have in any case. */
  readonly reserved?: number
  /** Ids beyond these, of all tenants together. */
  readonly pool?: number
  /** Ids that one tenant may have at most. */
  readonly perTenant?: number
}

/** Expired ids that one call removes at most; a call adds one, so the expired ones never pile up. */
const SWEPT = 64

export class ProcessEphemeral implements Ephemeral {
  /** `tenant id` → when it expires (monotonic whole seconds), oldest first. */
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
    return epoch === this.#epoch && this.note(tenant, id, ttlMs)
  }

  /** Whether the id is new. Throws when there is no place for it. */
  note(tenant: string, id: string, ttlMs: number): boolean {
    const now = this.#clock()
    this.#sweep(now)
    const key = `${tenant} ${id}`
    if ((this.#used.get(key) ?? 0) * 1000 > now) return false
    this.forget(tenant, id)
    const count = this.#counts.get(tenant) ?? 0
    const pooled = count >= this.#limits.reserved
    if (count >= this.#limits.perTenant || (pooled && this.#pooled >= this.#limits.pool))
      throw new Error(`tenant ${tenant} has ${count} used sign-ins: no more can be noted`)
    this.#used.set(key, Math.ceil((now + ttlMs) / 1000))
    this.#counts.set(tenant, count + 1)
    if (pooled) this.#pooled++
    return true
  }

  forget(tenant: string, id: string): void {
    if (!this.#used.delete(`${tenant} ${id}`)) return
    const count = this.#counts.get(tenant) ?? 0
    if (count > this.#limits.reserved) this.#pooled--
    if (count > 1) this.#counts.set(tenant, count - 1)
    else this.#counts.delete(tenant)
  }

  close(): void {
    this.#used.clear()
    this.#counts.clear()
    this.#pooled = 0
  }

  /** How many are held, expired ones included. */
  get size(): number {
    return this.#used.size
  }

  #sweep(now: number): void {
    let left = SWEPT
    for (const [key, until] of this.#used) {
      if (until * 1000 > now || left-- === 0) return
      const at = key.indexOf(' ')
      this.forget(key.slice(0, at), key.slice(at + 1))
    }
  }
}

/** For gateways that share a memory: the own one bounds what each of them notes there. */
export class BoundedEphemeral implements Ephemeral {
  readonly #own: ProcessEphemeral
  readonly #shared: Ephemeral & { close(): void }

  constructor(own: ProcessEphemeral, shared: Ephemeral & { close(): void }) {
    this.#own = own
    this.#shared = shared
  }

  epoch(): Promise<string> {
    return this.#shared.epoch()
  }

  async use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean> {
    if (!this.#own.note(tenant, id, ttlMs)) return false
    try {
      return await this.#shared.use(tenant, epoch, id, ttlMs)
    } catch (cause) {
      // The shared memory decides: when it can't be asked, the same request may come again.
      this.#own.forget(tenant, id)
      throw cause
    }
  }

  close(): void {
    this.#own.close()
    this.#shared.close()
  }
}
