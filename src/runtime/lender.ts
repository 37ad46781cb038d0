/** The lenders of rate limits that the processes of a fleet share: Redis, or the primary of a worker. */

import { systemClock } from '../coherence/clock.ts'
import type { Lender, Loan, LoanRequest } from '../model/rate-limit.ts'
import type { SharedCache } from '../redis/seat-cache.ts'
import type { Log } from '../telemetry/logger.ts'
import type { Channel } from './workers/channel.ts'

/** Milliseconds until a loan fails: the primary is frozen, and this worker has lost its lease too. */
const TIMEOUT = 2000

/**
 * The lender in Redis, whose code is loaded only where Redis is configured; null without Redis. Logs when Redis is away and
 * when it is back, where there are limits in use.
 */
export async function openLender(cache: SharedCache | null, { logger }: Log): Promise<Lender | null> {
  if (cache === null) return null
  const { TokenLender } = await import('../redis/token-lender.ts')
  return new TokenLender(cache.connection, cache.keys, systemClock.now, (isUp) => {
    if (isUp) logger.info('rate limits are shared through Redis again')
    else logger.warn('Redis is away: this process enforces its share of the rate limits')
  })
}

/** The primary's buckets of rate limits, for workers without Redis. */
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
