/** The primary's buckets of rate limits, for workers without Redis. */

import type { Lender, Loan, LoanRequest } from '../../model/rate-limit.ts'
import type { Channel } from './channel.ts'

/** Milliseconds until a loan fails: the primary is frozen, and this worker has lost its lease too. */
const TIMEOUT = 2000

export class RemoteLender implements Lender {
  readonly up = true
  /** The primary ends with its workers. */
  readonly lostAt = Number.NEGATIVE_INFINITY
  readonly #channel: Pick<Channel, 'call'>
  readonly #instances: () => number

  constructor(channel: Pick<Channel, 'call'>, instances: () => number) {
    this.#channel = channel
    this.#instances = instances
  }

  get shares(): number {
    return this.#instances()
  }

  exchange(request: LoanRequest): Promise<Loan> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the primary does not respond')), TIMEOUT)
      this.#channel
        .call('lend', request)
        .finally(() => clearTimeout(timer))
        .then((loan) => resolve(loan as Loan), reject)
    })
  }
}
