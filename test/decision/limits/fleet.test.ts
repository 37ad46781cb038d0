/** What passes a fleet, against what is allowed, over any sequence of requests; with a clock of the test. */

import fc from 'fast-check'
import t from 'tap'
import { type RateLimit, sliceOf } from '../../../src/model/rate-limit.ts'
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

t.test('under a flood, one call a slice of what passes, and all of it passes', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(
        { limit: 1000, window: 60_000, burst: 1000 },
        { limit: 1000, window: 60_000, burst: 100 },
        { limit: 5000, window: 1000, burst: 500 },
        { limit: 60, window: 60_000, burst: 60 },
      ),
      fc.constantFrom(1, 3),
      fc.constantFrom(4, 50),
      fc.boolean(),
      (numbers, size, times, everywhere) =>
        floods({ ...HOURLY, ...numbers }, size, times, everywhere).then(({ calls, passed, due, slice }) => {
          t.ok(calls <= (passed / slice) * 1.05 + size, `${calls} calls for ${passed} in slices of ${slice}`)
          t.ok(passed >= due * 0.99 - size * slice, `${passed} of ${due}`)
        }),
    ),
    { numRuns: 5 },
  )
})

/** Twenty times what the limit allows, once the burst is used up. @param everywhere at each instance, else at one */
async function floods(limit: RateLimit, size: number, times: number, everywhere: boolean) {
  const fleet = new FleetModel(size, limit)
  await fleet.ask(0, limit.burst + 1)
  const slice = sliceOf(limit)
  const [token, slices] = [limit.window / limit.limit, Math.max(10, 40 / slice) * size]
  const step = token * Math.min(slice / 4, times / 20)
  let [calls, passed, began] = [0, 0, 0]
  // The first slices are those in which the processes learn of the flood.
  for (let tokens = 0; tokens < 2 * slices * slice; tokens = fleet.now / token) {
    if (began === 0 && tokens >= slices * slice)
      [calls, passed, began] = [fleet.lender.calls, fleet.passed, fleet.now]
    fleet.now += step
    for (let at = 0; at < (everywhere ? size : 1); at++) await fleet.ask(at, times)
  }
  fleet.close()
  const due = (fleet.now - began) / token
  return { calls: fleet.lender.calls - calls, passed: fleet.passed - passed, due, slice }
}

t.test('a caller that comes again when it was told to has the first token each time', async (t) => {
  const limit = { ...HOURLY, limit: 1000, burst: 50 }
  const fleet = new FleetModel(3, limit)
  await fleet.ask(0, limit.burst)
  for (let time = 1; time <= 20; time++) {
    const before = fleet.passed
    await fleet.ask(0)
    t.equal(fleet.passed, before, 'it is refused')
    fleet.now += Math.ceil((await fleet.look(0))?.retryAfter ?? 0)
    await fleet.ask(0)
    t.equal(fleet.passed, before + 1)
  }
  t.ok(fleet.now <= 21 * (limit.window / limit.limit + 2), `${fleet.now} ms`)
  fleet.close()
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
