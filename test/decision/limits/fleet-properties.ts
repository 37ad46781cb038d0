/** What holds for a fleet over any sequence of requests; with a clock of the test. */

import fc from 'fast-check'
import { type RateLimit, sliceOf } from '../../../src/model/rate-limit.ts'
import { FleetModel } from './fleet-model.ts'

export const limits: fc.Arbitrary<RateLimit> = fc.record({
  name: fc.constant('writes'),
  limit: fc.integer({ min: 1, max: 5000 }),
  window: fc.constantFrom(1000, 60_000, 3_600_000),
  burst: fc.integer({ min: 1, max: 2000 }),
  per: fc.constant('address'),
})
export const instances = fc.constantFrom(1, 3, 10)
export const steps = fc.array(
  fc.record({
    instance: fc.nat(9),
    times: fc.integer({ min: 0, max: 40 }),
    after: fc.double({ min: 0, max: 3000, noNaN: true }),
  }),
  { maxLength: 60 },
)

export const HOURLY: RateLimit = { name: 'writes', limit: 1, window: 3_600_000, burst: 1000, per: 'address' }

/** No less than 99 % of what one bucket gives, under uneven load. */
export async function givesAsOneBucket(runs: number): Promise<void> {
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
        // One instance takes what the others have given back, once each has waited for the slice that it asks for.
        const slices = (sliceOf(limit) * size * limit.window) / limit.limit
        for (const each of [fleet, one]) each.now += Math.max(1100, slices + 2)
        fleet.giveBack()
        await new Promise((resolve) => setImmediate(resolve))
        await ask(0, limit.burst + limit.limit)
        for (const each of [fleet, one]) each.close()
        return fleet.passed <= one.passed * 1.01 + 1 && fleet.passed >= one.passed * 0.99 - 1
      },
    ),
    { numRuns: runs },
  )
}

/** @param lost the buckets too */
export async function holdsWhileLenderIsAway(lost: boolean, runs: number): Promise<void> {
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
    { numRuns: runs },
  )
}

/** The first instance asked when the others had taken nothing yet, and so on. */
function stale(size: number, before: number): number {
  const each = Math.ceil(before / size)
  const knew = Array.from({ length: size }, (_, i) => Math.max(0, HOURLY.burst - each * (i + 1)))
  const shares = knew.reduce((sum, left) => sum + left / size, 0)
  const own = Math.max(0, HOURLY.burst - Math.min(HOURLY.burst, each * size))
  return shares - own + HOURLY.burst / size
}
