/** Without faults, beside `seatgate bootstrap`, and with faults of messages only: lost, late, duplicated and reordered. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { bootstrapUnderLoad } from './bootstrapping.ts'
import { underLoad } from './checker.ts'
import { type Fleet, startFleet } from './fleet.ts'

t.test('messages', async (t) => {
  const fleet = await startFleet(t)

  await t.test('no faults', async (t) => {
    await underLoad(t, 'calm', fleet, (load) => load.written(100))
  })

  await t.test('bootstrap', (t) => bootstrapUnderLoad(t, 'bootstrap', fleet))

  await t.test('pub/sub connections killed again and again', async (t) => {
    await underLoad(t, 'pub/sub killed', fleet, async (load) => {
      for (let kills = 0; kills < 10; kills++) {
        await load.written(11)
        await fleet.redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      }
    })
  })

  await t.test('delayed, duplicated and reordered', async (t) => {
    const repeated = await repeatMessages(t, fleet)
    await underLoad(t, 'delayed, doubled, out of order', fleet, async (load) => {
      for (let turn = 0; turn < 12; turn++) {
        // By turns and by gateway: longer than the timeout of a command, shorter, and not at all.
        for (const [index, { toRedis }] of fleet.gateways.entries())
          toRedis?.delay([0, 15, 40, 120][(turn + index * 2) % 4] ?? 0)
        await Promise.all([sleep(200), load.written(9)])
      }
      for (const { toRedis } of fleet.gateways) toRedis?.delay(0)
    })
    t.ok(repeated() > 200, `messages repeated late: ${repeated()}`)
  })
})

/** Repeats each message up to three times, each after a delay. Returns the number of repeats so far. */
async function repeatMessages(t: Test, fleet: Fleet): Promise<() => number> {
  const counts = new Map<string, number>()
  let count = 0
  const [publisher, subscriber] = [new Redis(fleet.redis.url), new Redis(fleet.redis.url)]
  t.teardown(() => {
    publisher.disconnect()
    subscriber.disconnect()
  })
  subscriber.on('pmessage', (_pattern: string, channel: string, text: string) => {
    const before = counts.get(channel + text) ?? 0
    counts.set(channel + text, before + 1)
    if (before >= 3) return
    count++
    setTimeout(() => void publisher.publish(channel, text).catch(() => {}), Math.random() * 500).unref()
  })
  await subscriber.psubscribe('seatgate:*')
  return () => count
}
