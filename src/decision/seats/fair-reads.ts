/**
 * Reads of the store, shared out among tenants: each tenant has a few under way, all have a bounded number together, and
 * the tenants that wait take turns. A tenant whose credentials name hundreds of Seats waits for itself.
 */

export interface FairReadsOptions {
  /** Reads under way of one tenant, and of all. */
  readonly perTenant: number
  readonly total: number
  /** Reads of one tenant that wait; one more is refused. */
  readonly waiting: number
  /** Milliseconds that a read waits for its turn; after that it is refused. */
  readonly patience: number
  /** Monotonic ms. */
  readonly now: () => number
}

interface Waiting {
  readonly since: number
  readonly start: () => void
  readonly refuse: (cause: Error) => void
}

/** Of one tenant. */
interface Line {
  running: number
  /** Those before `next` have been started or refused. */
  waiting: Waiting[]
  next: number
}

/** Milliseconds between two looks for reads that have waited too long. */
const LOOK = 250
/** Started reads at the head of a line before they are cut off. */
const COMPACT = 256

export class FairReads {
  readonly #options: FairReadsOptions
  readonly #lines = new Map<string, Line>()
  /** Tenants with reads that wait and a place for one, in turn. */
  readonly #turns = new Set<string>()
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

  /** Rejects as `read` does, and where the tenant's reads wait too long or are too many. */
  run<V>(tenant: string, read: () => Promise<V>): Promise<V> {
    const line = this.#lineOf(tenant)
    const { perTenant, total, waiting } = this.#options
    if (this.#running < total && line.running < perTenant && line.waiting.length === line.next)
      return this.#start(tenant, line, read)
    if (line.waiting.length - line.next >= waiting)
      return Promise.reject(new Error(`tenant ${tenant} has ${waiting} reads of the store waiting`))
    return new Promise<V>((resolve, reject) => {
      const start = () => this.#start(tenant, line, read).then(resolve, reject)
      line.waiting.push({ since: this.#options.now(), start, refuse: reject })
      this.#waiting++
      if (line.running < perTenant) this.#turns.add(tenant)
      this.#timer ??= setInterval(() => this.#refuseLate(), LOOK).unref()
    })
  }

  #lineOf(tenant: string): Line {
    const known = this.#lines.get(tenant)
    if (known !== undefined) return known
    const line: Line = { running: 0, waiting: [], next: 0 }
    this.#lines.set(tenant, line)
    return line
  }

  #start<V>(tenant: string, line: Line, read: () => Promise<V>): Promise<V> {
    line.running++
    this.#running++
    // A read that throws before it gives a promise must end as one that rejects: it has taken a place.
    return Promise.try(read).finally(() => {
      line.running--
      this.#running--
      if (line.next < line.waiting.length) this.#turns.add(tenant)
      this.#startNext()
      this.#forget(tenant, line)
    })
  }

  #startNext(): void {
    for (const tenant of this.#turns) {
      if (this.#running >= this.#options.total) return
      this.#turns.delete(tenant)
      const line = this.#lines.get(tenant)
      const next = line === undefined ? undefined : this.#take(line)
      if (line === undefined || next === undefined) continue
      next.start()
      // Behind all others that wait.
      if (line.running < this.#options.perTenant && line.next < line.waiting.length) this.#turns.add(tenant)
    }
  }

  #take(line: Line): Waiting | undefined {
    const taken = line.waiting[line.next]
    if (taken === undefined) return undefined
    line.next++
    this.#waiting--
    if (line.next === line.waiting.length || line.next > COMPACT) {
      line.waiting = line.waiting.slice(line.next)
      line.next = 0
    }
    return taken
  }

  #forget(tenant: string, line: Line): void {
    if (line.running === 0 && line.next === line.waiting.length) this.#lines.delete(tenant)
  }

  /** The store hangs, or the tenant asks for more than its share gives. */
  #refuseLate(): void {
    const before = this.#options.now() - this.#options.patience
    for (const [tenant, line] of this.#lines) {
      for (let first = line.waiting[line.next]; first !== undefined; first = line.waiting[line.next]) {
        if (first.since > before) break
        this.#take(line)
        first.refuse(
          new Error(`a read of the store waited more than ${this.#options.patience} ms for its turn`),
        )
      }
      this.#forget(tenant, line)
    }
    if (this.#waiting > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}
