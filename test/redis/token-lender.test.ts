/** The script of the buckets, in a real Redis. Limits are an hour's, so that time adds nothing that a test would see. */

import t, { type Test } from 'tap'
import type { LoanRequest, RateLimit } from '../../src/model/rate-limit.ts'
import { grantOf } from '../../src/model/rate-limit.ts'
import { connectRedis } from '../../src/redis/connect.ts'
import { Keys } from '../../src/redis/keys.ts'
import { redisUrl } from '../../src/config/redis-settings.ts'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { TokenLender } from '../../src/redis/token-lender.ts'
import { type RedisServer, startRedis } from '../support/servers/redis.ts'
import { until } from '../support/until.ts'

const LIMIT: RateLimit = { name: 'writes', limit: 1, window: 3_600_000, burst: 100, per: 'caller' }
const ASKED: LoanRequest = {
  ...{
    limit: LIMIT,
    key: 'alice',
    owner: 'acme',
    need: 1,
    extra: 0,
    back: 0,
    debit: 0,
    initial: 100,
    processes: 3,
  },
}

/** ms, longer than any test. */
const NEVER = 60_000
/** ms after a failure. */
const PAUSE = 500

async function lenderAt(t: Test, redis: RedisServer) {
  const config = redisUrl(redis.url, '/')
  if (config instanceof InvalidValue) throw new Error(config.message)
  const connection = connectRedis(config, () => {}, NEVER, NEVER)
  t.teardown(() => connection.disconnect())
  const reports: boolean[] = []
  const keys = new Keys('test:')
  const clock = { now: 1 }
  const lender = new TokenLender(
    connection,
    keys,
    () => clock.now,
    (isUp) => reports.push(isUp),
  )
  await until(() => lender.up, 'the connection')
  return { lender, reports, clock }
}

t.test('the script', async (t) => {
  const redis = await startRedis(t)
  const { lender, reports, clock } = await lenderAt(t, redis)
  const ask = async (key: string, more: Partial<LoanRequest> = {}) => {
    const { granted, left } = await lender.exchange({ ...ASKED, key, ...more })
    return [granted, Math.floor(left + 0.001)]
  }

  await t.test('grants as grantOf does', async (t) => {
    for (const [need, extra, processes] of [
      [1, 0, 1],
      [7, 9, 3],
      [99, 50, 10],
      [120, 50, 3],
      [0, 10, 1],
    ] as const) {
      const request = { ...ASKED, key: `${need} ${extra}`, need, extra, processes }
      t.equal((await lender.exchange(request)).granted, grantOf(100, request), `${need} and ${extra}`)
    }
  })

  await t.test('what goes back counts, up to the burst', async (t) => {
    t.same(await ask('bob', { need: 60 }), [60, 40])
    t.same(await ask('bob', { need: 0, back: 10 }), [0, 50])
    t.same(await ask('bob', { need: 0, back: 1000 }), [0, 100])
    t.equal(await redis.command('EXISTS', 'test:tokens:{x}'), 0)
  })

  await t.test('debits may exceed what is there', async (t) => {
    t.same(await ask('carol', { need: 90 }), [90, 10])
    t.same(await ask('carol', { debit: 30 }), [0, -20])
    t.same(await ask('carol', { need: 5, debit: 1000 }), [0, -100], 'one burst at most')
  })

  await t.test('a bucket that is not there begins as the request says', async (t) => {
    t.same(await ask('dave', { initial: 5.5, debit: 50, need: 9 }), [5, 0])
  })

  await t.test('each bucket expires once it is full', async (t) => {
    const keys = (await redis.command('KEYS', 'test:tokens:*')) as string[]
    t.ok(keys.length > 5)
    for (const key of keys.filter((each) => !each.includes('EPOCH')))
      t.ok(Number(await redis.command('PTTL', key)) > 1000, key)
  })

  await t.test('a bucket that is no bucket is an error, not a grant', async (t) => {
    const [key = ''] = (await redis.command('KEYS', 'test:tokens:*')) as string[]
    for (const each of (await redis.command('KEYS', 'test:tokens:*')) as string[])
      if (!each.includes('EPOCH')) await redis.command('SET', each, 'nonsense')
    t.ok(key)
    await t.rejects(ask('dave'))
    t.same(reports, [false])
    t.equal(lender.up, false)
    clock.now += PAUSE
    t.equal(lender.up, true)
    await ask('erin')
    t.same(reports, [false, true])
    t.equal(lender.lostAt, Number.NEGATIVE_INFINITY, 'Redis has kept its epoch')
  })

  await t.test('a Redis that comes back empty is noticed', async (t) => {
    await redis.kill()
    await until(() => !lender.up, 'the end of the connection')
    await redis.restart({ empty: true })
    clock.now += PAUSE
    await until(() => lender.up, 'the connection')
    await ask('frank', { initial: 30 })
    t.ok(lender.lostAt > 0)
  })
})
