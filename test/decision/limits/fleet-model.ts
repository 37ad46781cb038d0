/** A fleet of rate limiters with a clock of the test: one lender, which may be away and may lose its buckets. */

import { Bank } from '../../../src/decision/limits/bank.ts'
import {
  type LimitedRequest,
  RateLimiter,
  type RateLimitVerdict,
} from '../../../src/decision/limits/rate-limiter.ts'
import type { Lender, Loan, LoanRequest, RateLimit } from '../../../src/model/rate-limit.ts'
import { UNSCOPED, type Route } from '../../../src/model/route.ts'

export function routeWith(...rateLimits: RateLimit[]): Route {
  return {
    ...UNSCOPED,
    ...{ id: 'GET /', method: 'GET', path: '/', requirement: 'public', maxBody: 0, responseTimeout: null },
    ...{ signIn: null, cors: null, place: null, target: { kind: 'upstream', name: 'main' }, rateLimits },
  }
}

/** As Redis: a missing bucket begins as the request says, and debits are subtracted. */
class ModelLender implements Lender {
  up = true
  shares = 1
  lostAt = Number.NEGATIVE_INFINITY
  calls = 0
  readonly #now: () => number
  #bank: Bank
  #known = new Set<string>()

  constructor(now: () => number) {
    this.#now = now
    this.#bank = new Bank(now, () => 1)
  }

  async exchange(request: LoanRequest): Promise<Loan> {
    if (!this.up) throw new Error('away')
    this.calls++
    const { limit, key, debit, initial } = request
    const taken = this.#known.has(key) ? debit : limit.burst - initial
    this.#known.add(key)
    this.#bank.lend({ ...request, need: 0, extra: 0, back: -taken })
    return this.#bank.lend(request)
  }

  away(lost: boolean): void {
    this.up = false
    if (!lost) return
    this.#bank = new Bank(this.#now, () => 1)
    this.#known = new Set()
  }

  back(): void {
    this.up = true
    this.lostAt = this.#now()
  }
}

export class FleetModel {
  now = 0
  passed = 0
  refused = 0
  readonly lender = new ModelLender(() => this.now)
  readonly limiters: RateLimiter[]
  readonly #counted: LimitedRequest

  /** @param shared false: without a lender, each instance with its share */
  constructor(instances: number, limit: RateLimit, shared = true) {
    const lender = shared ? this.lender : null
    const around = { now: () => this.now, lender, processes: () => instances }
    this.limiters = Array.from({ length: instances }, () => new RateLimiter(around))
    for (const limiter of this.limiters) limiter.configure([limit])
    this.#counted = { routes: [routeWith(limit)], principal: null, address: () => '192.0.2.1' }
  }

  async look(instance: number): Promise<RateLimitVerdict | null> {
    return this.limiters[instance]?.look(this.#counted) ?? null
  }

  /** So many requests at once at one instance. */
  async ask(instance: number, times = 1): Promise<void> {
    const limiter = this.limiters[instance % this.limiters.length]
    const verdicts = await Promise.all(Array.from({ length: times }, () => limiter?.take(this.#counted)))
    for (const verdict of verdicts) {
      if (verdict?.exceeded === null) this.passed++
      else this.refused++
    }
  }

  giveBack(): void {
    for (const limiter of this.limiters) limiter.giveBack()
  }

  close(): void {
    for (const limiter of this.limiters) limiter.close()
  }
}
