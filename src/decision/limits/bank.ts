/** The buckets of one machine without Redis. Its workers borrow from them through the primary. */

import { getOrInsertComputed } from '../../lib/get-or-insert.ts'
import {
  type Lender,
  type Loan,
  type LoanRequest,
  type RateLimit,
  grantOf,
  shareOf,
} from '../../model/rate-limit.ts'
import { BoundedTable } from './bounded-table.ts'
import { Bucket } from './bucket.ts'

/** The most buckets of one limit. */
const MAX_BUCKETS = 100_000

/** The buckets of one limit. A reload may change its numbers. */
interface Ledger {
  limit: RateLimit
  readonly buckets: BoundedTable<Bucket>
}

export class Bank implements Lender {
  readonly up = true
  readonly lostAt = Number.NEGATIVE_INFINITY
  readonly #now: () => number
  readonly #instances: () => number
  readonly #ledgers = new Map<string, Ledger>()

  /**
   * @param now monotonic ms
   * @param instances live ones: this machine lends its share of each limit
   */
  constructor(now: () => number, instances: () => number) {
    this.#now = now
    this.#instances = instances
  }

  get shares(): number {
    return this.#instances()
  }

  async exchange(request: LoanRequest): Promise<Loan> {
    return this.lend(request)
  }

  lend(request: LoanRequest): Loan {
    const ledger = this.#ledger(request.limit)
    const filling = shareOf(ledger.limit, this.#instances())
    const bucket = ledger.buckets.get(request.key, request.owner)
    bucket.tokens += request.back
    const granted = grantOf(bucket.refill(filling, this.#now()), request)
    bucket.tokens -= granted
    return { granted, left: bucket.tokens }
  }

  #ledger(limit: RateLimit): Ledger {
    const ledger = getOrInsertComputed(this.#ledgers, limit.name, () => this.#open(limit))
    ledger.limit = limit
    return ledger
  }

  #open(limit: RateLimit): Ledger {
    const filling = () => shareOf(ledger.limit, this.#instances())
    const level = (bucket: Bucket) => bucket.refill(filling(), this.#now())
    const buckets = new BoundedTable<Bucket>({
      bound: MAX_BUCKETS,
      create: (_key, _owner, like) =>
        new Bucket(like === null ? filling().capacity : level(like), this.#now()),
      isForgettable: (bucket) => level(bucket) >= filling().capacity,
      poorer: (one, other) => (level(one) <= level(other) ? one : other),
    })
    const ledger: Ledger = { limit, buckets }
    return ledger
  }
}
