/** Outages of Redis of every kind: requests are decided as with Redis, and every write is acknowledged. */

import t from 'tap'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import type { Tally } from './load-state.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'

/** Milliseconds that a busy machine may add to a write. */
const BUSY = 5000

t.test('outages of Redis', async (t) => {
  const fleet = await startFleet(t)
  const { redis } = fleet
  const scenario = (title: string, during: (load: Load) => Promise<void>) =>
    t.test(title, async (t) => {
      const tally: Tally = await underLoad(t, title, fleet, during)
      t.ok(tally.quantile(1) < LEASE + MARGIN + BUSY, 'no write waits for much longer than a lease')
    })

  await scenario('one gateway cut from Redis', async (load) => {
    const [cut] = [fleet.first]
    await load.written(50)
    await cut.toRedis?.cut()
    await load.written(100)
    await cut.toRedis?.heal()
    await load.written(50)
    cut.toRedis?.freeze()
    await load.written(100)
    await cut.toRedis?.heal()
    await load.written(50)
  })

  await scenario('Redis frozen', async (load) => {
    for (let round = 0; round < 3; round++) {
      await redis.freeze()
      await load.written(70)
      redis.thaw()
      await load.written(50)
    }
  })

  await scenario('Redis killed, and back empty', async (load) => {
    for (let round = 0; round < 3; round++) {
      await redis.kill()
      await load.written(70)
      await redis.restart({ empty: true })
      await load.written(50)
    }
  })
})
