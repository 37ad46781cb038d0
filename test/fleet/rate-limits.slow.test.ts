/**
 * One budget for a fleet of real gateways. Each test compares what passed with what is allowed: the burst, and what the time
 * of the test itself has added.
 */

import t from 'tap'
import { metric } from '../support/operations.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import { LimitedLoad, RATE_LIMIT, READS, SLICE, stalls } from './limited-load.ts'

t.test('rate limits of a fleet', async (t) => {
  const fleet = await startFleet(t, { rateLimit: RATE_LIMIT, proxies: [] })
  const reader = await fleet.makeSeat(fleet.first, 'Reader')
  const { gateways, redis } = fleet
  const load = async (sub: string) => {
    const made = await LimitedLoad.by(fleet, reader.name, sub)
    t.teardown(() => made.close())
    return made
  }
  const shows = (name: string, expected: number) =>
    until(
      async () => {
        const values = await Promise.all(gateways.map((each) => metric(each, name)))
        return values.every((value) => value === expected)
      },
      () => `${name} is not ${expected}`,
    )
  const divided = (expected: number) => shows('seatgate_rate_limits_divided', expected)

  await t.test('uneven load', async (t) => {
    const alice = await load('alice')
    await alice.exhaust(gateways)
    const { more, less } = await stalls(gateways)
    t.ok(alice.passed <= READS.burst + alice.added + more, `${alice.passed} passed`)
    t.ok(alice.passed >= 0.99 * READS.burst - less)
    t.match(alice.last?.headers['ratelimit-policy'], /^"reads";q=\d+;w=3600/)
  })

  await t.test('no name of a caller is in Redis', async (t) => {
    const keys = (await redis.command('KEYS', '*tokens*')) as string[]
    t.ok(keys.length > 0)
    for (const key of keys) t.match(key, /^seatgate:tokens:\{(?:[\w-]{43}|EPOCH)\}$/)
  })

  await t.test('an instance killed: its slice is lost at most', async (t) => {
    const bob = await load('bob')
    await bob.asks(fleet.at(2), 50)
    const before = await stalls(gateways)
    await fleet.at(2).kill()
    const left = [fleet.at(0), fleet.at(1)]
    await bob.exhaust(left)
    const after = await stalls(left)
    t.ok(bob.passed <= READS.burst + bob.added + before.more + after.more, `${bob.passed} passed`)
    t.ok(bob.passed >= 0.99 * READS.burst - SLICE - before.less - after.less)
    await fleet.at(2).start()
  })

  await t.test('Redis killed, and back empty', async (t) => {
    const carol = await load('carol')
    const each = 100
    for (const gateway of gateways) await carol.asks(gateway, each)
    await shows('seatgate_rate_limit_processes', 3)
    const before = await stalls(gateways)
    await redis.kill()
    await divided(1)
    await carol.exhaust(gateways)
    t.match(carol.last?.headers['ratelimit-policy'], '"reads";q=333;w=3600;seatgate-shares=3')
    await redis.restart({ empty: true })
    await divided(0)
    // A gateway asks Redis for this caller only when it has nothing itself.
    await carol.exhaust(gateways)
    // Each has a third of what it last knew to be left: the second did not know of the first's requests, and so on.
    const shares = gateways.reduce((all, _, at) => all + (READS.burst - each * (at + 1)) / 3, 0)
    const most = each * 3 + 3 * SLICE + shares + carol.added + READS.burst * Math.sign(before.more)
    t.ok(carol.passed <= most, `${carol.passed} passed of ${most}`)
    t.ok(carol.passed >= READS.burst / 2)
  })

  await t.test('Redis frozen: requests are answered, by shares', async (t) => {
    const dave = await load('dave')
    await dave.asks(fleet.first, 3)
    await redis.freeze()
    await until(
      async () => {
        await dave.ask(fleet.first)
        return dave.last?.headers['ratelimit-policy']?.includes('seatgate-shares=3') === true
      },
      () => 'no request passes by a share',
    )
    redis.thaw()
    await divided(0)
    await dave.ask(fleet.first)
    t.equal(dave.last?.status, 200)
  })
})
