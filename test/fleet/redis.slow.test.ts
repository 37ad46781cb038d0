/** Outages of Redis of every kind: requests are decided as with Redis, and every write is acknowledged. */

import t from 'tap'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import type { Tally } from './load-state.ts'
import { type Load, underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'

t.test('outages of Redis', async (t) => {
  const fleet = await startFleet(t)
  const { redis } = fleet
  const scenario = (title: string, during: (load: Load) => Promise<void>) =>
    t.test(title, async (t) => {
      const tally: Tally = await underLoad(t, title, fleet, during)
      t.ok(tally.quantile(1) < 10 * (LEASE + MARGIN), 'no write waits for ten leases')
    })

  await scenario('one gateway cut from Redis', async (load) => {
    const { toRedis } = fleet.first
    await load.written(10)
    await toRedis?.cut()
    await load.written(40)
    await toRedis?.heal()
    await load.written(15)
    toRedis?.freeze()
    await load.written(40)
    await toRedis?.heal()
    await load.written(15)
  })

  await scenario('Redis frozen', async (load) => {
    for (let round = 0; round < 2; round++) {
      await redis.freeze()
      await load.written(35)
      redis.thaw()
      await load.written(20)
    }
  })

  await scenario('Redis killed, and back empty', async (load) => {
    for (let round = 0; round < 2; round++) {
      await redis.kill()
      await load.written(35)
      await redis.restart({ empty: true })
      await load.written(20)
    }
  })
})
