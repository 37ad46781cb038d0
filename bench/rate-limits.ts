/**
 * What rate limits cost a request: `node bench/rate-limits.ts`. Prints microseconds of CPU for a request that
 * passes, one that is refused, and one of a key that is new, in one process without a lender.
 */

import { RateLimiter } from '../src/decision/limits/rate-limiter.ts'
import type { RateLimit } from '../src/model/rate-limit.ts'
import { UNSCOPED, type Route } from '../src/model/route.ts'

const REQUESTS = 200_000
const LIMIT = { window: 1000, per: 'address' } as const
const wide: RateLimit = { ...LIMIT, name: 'wide', limit: 1_000_000_000, burst: 1_000_000_000 }
const narrow: RateLimit = { ...LIMIT, name: 'narrow', limit: 1, window: 3_600_000, burst: 1 }

function routeWith(limit: RateLimit): Route {
  return {
    ...UNSCOPED,
    ...{ id: 'GET /', method: 'GET', path: '/', requirement: 'public', maxBody: 0, responseTimeout: null },
    ...{ signIn: null, cors: null, place: null, target: { kind: 'upstream', name: 'main' } },
    rateLimits: [limit],
  }
}

function measure(what: string, limit: RateLimit, addressOf: (i: number) => string): void {
  const limiter = new RateLimiter({ now: () => performance.now(), lender: null, processes: () => 1 })
  limiter.configure([limit])
  const route = routeWith(limit)
  for (let warm = 0; warm < 2; warm++) {
    const from = process.cpuUsage()
    for (let i = 0; i < REQUESTS; i++)
      void limiter.take({ routes: [route], principal: null, address: () => addressOf(i) })
    const { user, system } = process.cpuUsage(from)
    if (warm === 1) console.log(`${what}: ${((user + system) / REQUESTS).toFixed(2)} µs`)
  }
}

measure('passes', wide, () => '192.0.2.1')
measure('is refused', narrow, () => '192.0.2.1')
measure('of a new key, with a full table', narrow, (i) => `2001:db8:${i}::/64`)
