/** The lender of rate limits in Redis. Its code is loaded only where Redis is configured. */

import { systemClock } from '../coherence/clock.ts'
import type { Lender } from '../model/rate-limit.ts'
import type { SharedCache } from '../redis/seat-cache.ts'
import type { Log } from '../telemetry/logger.ts'

/** Null without Redis. Logs when Redis is away and when it is back, where there are limits in use. */
export async function openLender(cache: SharedCache | null, { logger }: Log): Promise<Lender | null> {
  if (cache === null) return null
  const { TokenLender } = await import('../redis/token-lender.ts')
  return new TokenLender(cache.connection, cache.keys, systemClock.now, (isUp) => {
    if (isUp) logger.info('rate limits are shared through Redis again')
    else logger.warn('Redis is away: this process enforces its share of the rate limits')
  })
}
