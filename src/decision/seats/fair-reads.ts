/**
 * Schedules reads of the store fairly among tenants. Each tenant and all tenants together have a bounded
 * number of reads in flight; waiting tenants take turns (round robin). A tenant whose credentials name
 * hundreds of Seats delays only itself.
 */

import { getOrInsertComputed } from '../../lib/get-or-insert.ts'
import type { AsOf } from './read-through.ts'

export interface FairReadsOptions {
  /** Reads in flight, of one tenant and of all. */
  readonly perTenant: number
  readonly total: number
  /** Waiting reads of one tenant; a further read is refused. */
  readonly waiting: number
  /** Milliseconds that a read waits for its turn; then it is refused. */
  readonly maxWait: number
  /** Monotonic ms. */
  readonly now: () => number
}

interface Waiting {
  readonly since: number
  readonly start: () => void
  readonly refuse: (cause: Error) => void
}

/** The reads of one tenant. */
interface TenantQueue {
  running: number
  readonly waiting: Waiting[]
}

const newQueue = (): TenantQueue => ({ running: 0, waiting: [] })

/** Milliseconds between checks for reads that have waited too long. */
const CHECK_EVERY = 250

export class FairReads {
  readonly #options: FairReadsOptions
  readonly #queues = new Map<string, TenantQueue>()
  /** The tenants with waiting reads and free capacity, in turn. */
  readonly #ready = new Set<string>()
  #running = 0
  #waiting = 0
  #timer: NodeJS.Timeout | null = null

  constructor(options: FairReadsOptions) {
    this.#options = options
  }

  /** Reads that wait for their turn. */
  get waiting(): number {
    return this.#waiting
  }

  /**
   * The result of a read in its turn. Rejects as `read` does, and if the tenant has too many waiting reads or
   * the read waits too long.
   */
  run<V>(tenant: string, read: () => Promise<V>): Promise<V> {
    const queue = getOrInsertComputed(this.#queues, tenant, newQueue)
    const { perTenant, total, waiting } = this.#options
    if (this.#running < total && queue.running < perTenant && queue.waiting.length === 0)
      return this.#start(tenant, queue, read)
    if (queue.waiting.length >= waiting)
      return Promise.reject(new Error(`tenant ${tenant} has ${waiting} reads of the store waiting`))
    return new Promise<V>((resolve, reject) => {
      const start = () => this.#start(tenant, queue, read).then(resolve, reject)
      queue.waiting.push({ since: this.#options.now(), start, refuse: reject })
      this.#waiting++
      if (queue.running < perTenant) this.#ready.add(tenant)
      this.#timer ??= setInterval(() => this.#refuseOverdue(), CHECK_EVERY).unref()
    })
  }

  #start<V>(tenant: string, queue: TenantQueue, read: () => Promise<V>): Promise<V> {
    queue.running++
    this.#running++
    // A synchronous throw must end as a rejection does, so that the read gives its capacity back.
    const result = new Promise<V>((resolve) => resolve(read()))
    return result.finally(() => {
      queue.running--
      this.#running--
      if (queue.waiting.length > 0) this.#ready.add(tenant)
      this.#startNext()
      this.#dropIfEmpty(tenant, queue)
    })
  }

  #startNext(): void {
    for (const tenant of this.#ready) {
      if (this.#running >= this.#options.total) return
      this.#ready.delete(tenant)
      const queue = this.#queues.get(tenant)
      const next = queue === undefined ? undefined : this.#take(queue)
      if (queue === undefined || next === undefined) continue
      next.start()
      // To the end of the round.
      if (queue.running < this.#options.perTenant && queue.waiting.length > 0) this.#ready.add(tenant)
    }
  }

  #take(queue: TenantQueue): Waiting | undefined {
    const taken = queue.waiting.shift()
    if (taken !== undefined) this.#waiting--
    return taken
  }

  #dropIfEmpty(tenant: string, queue: TenantQueue): void {
    if (queue.running === 0 && queue.waiting.length === 0) this.#queues.delete(tenant)
  }

  /** Refuses reads that have waited too long: the store hangs, or the tenant exceeds its share. */
  #refuseOverdue(): void {
    const before = this.#options.now() - this.#options.maxWait
    for (const [tenant, queue] of this.#queues) {
      while ((queue.waiting[0]?.since ?? Infinity) <= before)
        this.#take(queue)?.refuse(
          new Error(`a read of the store waited more than ${this.#options.maxWait} ms for its turn`),
        )
      this.#dropIfEmpty(tenant, queue)
    }
    if (this.#waiting > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}

/** Reads in the tenant's turn, and compiles what the store returns. */
export function loader<R, V, Q>(
  reads: FairReads,
  read: (tenant: string, id: string, question: Q) => Promise<AsOf<R>>,
  compiled: (row: R) => V,
): (tenant: string, id: string, question: Q) => Promise<AsOf<V>> {
  return (tenant, id, question) =>
    reads.run(tenant, async () => {
      const { value, ...asOf } = await read(tenant, id, question)
      return { ...asOf, value: compiled(value) }
    })
}
