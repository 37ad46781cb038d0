/** What passes a fleet, against what is allowed, over any sequence of requests; with a clock of the test. */

import fc from 'fast-check'
import t from 'tap'
import type { RateLimit } from '../../../src/model/rate-limit.ts'
import { FleetModel } from './fleet-model.ts'

const limits: fc.Arbitrary<RateLimit> = fc.record({
  name: fc.constant('writes'),
  limit: fc.integer({ min: 1, max: 5000 }),
  window: fc.constantFrom(1000, 60_000, 3_600_000),
  burst: fc.integer({ min: 1, max: 2000 }),
  per: fc.constant('address'),
})
const instances = fc.constantFrom(1, 3, 10)
const steps = fc.array(
  fc.record({
    instance: fc.nat(9),
    times: fc.integer({ min: 0, max: 40 }),
    after: fc.double({ min: 0, max: 3000, noNaN: true }),
  }),
  { maxLength: 60 },
)

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

t.test('no less than 99 % of what one bucket gives, under uneven load', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      limits,
      instances,
      fc.array(fc.nat(9), { minLength: 20 }),
      async (limit, size, order) => {
        const fleet = new FleetModel(size, limit)
        const one = new FleetModel(1, limit, false)
        const ask = async (instance: number, times: number) => {
          await fleet.ask(instance, times)
          await one.ask(0, times)
        }
        const perTick = (limit.burst / 3000 + limit.limit / limit.window) * 20 * 1.5
        for (let tick = 1; tick <= 200; tick++) {
          for (const each of [fleet, one]) each.now = tick * 20
          if (tick % 12 === 0) fleet.giveBack()
          const times = Math.floor(perTick * tick) - Math.floor(perTick * (tick - 1))
          await ask(order[tick % order.length] ?? 0, times)
        }
        // One instance takes what the others have given back.
        for (const each of [fleet, one]) each.now += 1100
        fleet.giveBack()
        await new Promise((resolve) => setImmediate(resolve))
        await ask(0, limit.burst + limit.limit)
        for (const each of [fleet, one]) each.close()
        return fleet.passed <= one.passed * 1.01 + 1 && fleet.passed >= one.passed * 0.99 - 1
      },
    ),
    { numRuns: 10 },
  )
  t.pass()
})

const HOURLY: RateLimit = { name: 'writes', limit: 1, window: 3_600_000, burst: 1000, per: 'address' }

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

for (const lost of [false, true])
  t.test(`lender away${lost ? ' and back empty' : ''}: the bound holds`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(3, 10), fc.nat(1000), steps, async (size, before, asked) => {
        const fleet = new FleetModel(size, HOURLY)
        // Each instance knows of the bucket.
        for (let i = 0; i < size; i++) await fleet.ask(i, Math.ceil(before / size))
        fleet.lender.away(lost)
        for (const { instance, times } of asked) await fleet.ask(instance, times)
        fleet.lender.back()
        for (const { instance, times } of asked) await fleet.ask(instance, times)
        for (let i = 0; i < size; i++) await fleet.ask(i, 1100)
        fleet.close()
        // What each knew of the bucket when it last asked may be out of date, by what the others took since then.
        return fleet.passed <= HOURLY.burst + stale(size, before)
      }),
      { numRuns: 10 },
    )
    t.pass()
  })

/** The first instance asked when the others had taken nothing yet, and so on. */
function stale(size: number, before: number): number {
  const each = Math.ceil(before / size)
  const knew = Array.from({ length: size }, (_, i) => Math.max(0, HOURLY.burst - each * (i + 1)))
  const shares = knew.reduce((sum, left) => sum + left / size, 0)
  const own = Math.max(0, HOURLY.burst - Math.min(HOURLY.burst, each * size))
  return shares - own + HOURLY.burst / size
}
