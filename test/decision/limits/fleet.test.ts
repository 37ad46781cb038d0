/** What passes a fleet, against what is allowed, over any sequence of requests; with a clock of the test. */

import fc from 'fast-check'
import t from 'tap'
import { FleetModel } from './fleet-model.ts'
import {
  givesAsOneBucket,
  holdsWhileLenderIsAway,
  HOURLY,
  instances,
  limits,
  steps,
} from './fleet-properties.ts'

t.test('never more than burst + limit × time', async (t) => {
  await fc.assert(
    fc.asyncProperty(limits, instances, steps, async (limit, size, asked) => {
      const fleet = new FleetModel(size, limit)
      for (const { instance, times, after } of asked) {
        fleet.now += after
        fleet.giveBack()
        await fleet.ask(instance, times)
      }
      fleet.close()
      return fleet.passed <= limit.burst + (fleet.now * limit.limit) / limit.window + 1e-6
    }),
  )
  t.pass()
})

t.test('a slice costs one call, and a request with a token in hand none', async (t) => {
  const limit = { ...HOURLY, limit: 100_000, burst: 10_000 }
  const fleet = new FleetModel(3, limit)
  for (let i = 0; i < 5000; i++) await fleet.ask(i % 10 === 0 ? 1 : 0)
  fleet.close()
  t.equal(fleet.passed, 5000)
  t.ok(fleet.lender.calls <= 5000 / 1000 + 2 * 12, `${fleet.lender.calls} calls`)
})

t.test('an exhausted bucket is not asked again until there is a token', async (t) => {
  const fleet = new FleetModel(3, HOURLY)
  await fleet.ask(0, 1000)
  await fleet.ask(0, 1)
  const { calls } = fleet.lender
  for (let i = 0; i < 1000; i++) await fleet.ask(0)
  fleet.close()
  t.equal(fleet.lender.calls, calls)
  t.equal(fleet.refused, 1001)
})

t.test('an instance that only looks learns of an empty bucket, and takes no token', async (t) => {
  const fleet = new FleetModel(2, { ...HOURLY, limit: 2, burst: 2 })
  t.equal((await fleet.look(1))?.exceeded, null)
  await fleet.ask(0, 3)
  const empty = await fleet.look(1)
  t.equal(empty?.exceeded?.name, HOURLY.name)
  t.equal(Math.round(empty?.retryAfter ?? 0), 1_800_000)
  t.same([fleet.passed, fleet.refused], [2, 1], 'both tokens were there')
  t.same([...(fleet.limiters[1]?.refused.values() ?? [])], [0])
  fleet.close()
})

t.test('an idle instance gives back what it borrowed', async (t) => {
  const limit = { ...HOURLY, limit: 1000 }
  const fleet = new FleetModel(3, limit)
  for (let i = 0; i < 40; i++) await fleet.ask(i % 3)
  fleet.now += 1001
  fleet.giveBack()
  await new Promise((resolve) => setImmediate(resolve))
  await fleet.ask(0, 2000)
  fleet.close()
  t.equal(fleet.passed, 1000)
})

t.test('no less than 99 % of what one bucket gives, under uneven load', () => givesAsOneBucket(3))

for (const lost of [false, true])
  t.test(`lender away${lost ? ' and back empty' : ''}: the bound holds`, () =>
    holdsWhileLenderIsAway(lost, 3),
  )
