/** The lenders of rate limits that the processes of a fleet share: Redis, or the primary of a worker. */

import { systemClock } from '../coherence/clock.ts'
import type { Lender, Loan } from '../model/rate-limit.ts'
import type { SharedCache } from '../redis/seat-cache.ts'
import type { Log } from '../telemetry/logger.ts'
import type { Channel } from './workers/channel.ts'

/**
 * The lender in Redis, whose code is loaded only if Redis is configured; null without Redis. If limits are in
 * use, it logs when Redis is away and when it is back.
 */
export async function openLender(cache: SharedCache | null, { logger }: Log): Promise<Lender | null> {
  if (cache === null) return null
  const { TokenLender } = await import('../redis/token-lender.ts')
  return new TokenLender(cache.connection, cache.keys, systemClock.now, (isUp) => {
    if (isUp) logger.info('rate limits are shared through Redis again')
    else logger.warn('Redis is away: this process enforces its share of the rate limits')
  })
}

/** The primary's buckets of rate limits, for workers without Redis. The primary ends with its workers. */
export function remoteLender(channel: Pick<Channel, 'ask'>, instances: () => number): Lender {
  return {
    up: true,
    lostAt: Number.NEGATIVE_INFINITY,
    get shares() {
      return instances()
    },
    exchange: async (request) => (await channel.ask('lend', request)) as Loan,
  }
}
