/** Nothing goes wrong, or only messages do: they are lost, late, doubled and out of order. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { underLoad } from './checker.ts'
import { type Fleet, startFleet } from './fleet.ts'

t.test('messages', async (t) => {
  const fleet = await startFleet(t)

  await t.test('calm', async (t) => {
    await underLoad(t, 'calm', fleet, (load) => load.written(400))
  })

  await t.test('pub/sub connections killed every 300 ms', async (t) => {
    await underLoad(t, 'pub/sub killed', fleet, async (load) => {
      for (let kills = 0; kills < 20; kills++) {
        await Promise.all([sleep(300), load.written(12)])
        await fleet.redis.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
      }
    })
  })

  await t.test('delayed, doubled and out of order', async (t) => {
    const again = await echo(t, fleet)
    await underLoad(t, 'delayed, doubled, out of order', fleet, async (load) => {
      for (let turn = 0; turn < 24; turn++) {
        // Longer than a command is waited for, shorter, and not at all: by turns, for each its own.
        for (const [index, { toRedis }] of fleet.gateways.entries())
          toRedis?.delay([0, 15, 40, 120][(turn + index * 2) % 4] ?? 0)
        await Promise.all([sleep(200), load.written(10)])
      }
      for (const { toRedis } of fleet.gateways) toRedis?.delay(0)
    })
    t.ok(again() > 200, `messages said again, late: ${again()}`)
  })
})

/** Says each message up to three times again, after a while of its own. Gives how many so far. */
async function echo(t: Test, fleet: Fleet): Promise<() => number> {
  const said = new Map<string, number>()
  let count = 0
  const [speaks, hears] = [new Redis(fleet.redis.url), new Redis(fleet.redis.url)]
  t.teardown(() => {
    speaks.disconnect()
    hears.disconnect()
  })
  hears.on('pmessage', (_pattern: string, channel: string, text: string) => {
    const before = said.get(channel + text) ?? 0
    said.set(channel + text, before + 1)
    if (before >= 3) return
    count++
    setTimeout(() => void speaks.publish(channel, text).catch(() => {}), Math.random() * 500).unref()
  })
  await hears.psubscribe('seatgate:*')
  return () => count
}
