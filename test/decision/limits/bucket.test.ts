/** The bucket and its table, with a clock of the test. */

import fc from 'fast-check'
import t from 'tap'
import { Bucket, waitFor } from '../../../src/decision/limits/bucket.ts'

t.test('a bucket never gives more than its capacity and what was added', async (t) => {
  const step = fc.record({ after: fc.double({ min: 0, max: 5000, noNaN: true }), asks: fc.nat(20) })
  fc.assert(
    fc.property(fc.array(step), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 100 }), run),
  )
  function run(steps: readonly { after: number; asks: number }[], capacity: number, perSecond: number) {
    const rate = perSecond / 1000
    let now = 7
    const bucket = new Bucket(capacity, now)
    const passed: number[] = []
    for (const { after, asks } of steps) {
      now += after
      for (let i = 0; i < asks; i++) {
        if (bucket.refill({ capacity, rate }, now) < 1) break
        bucket.tokens--
        passed.push(now)
      }
    }
    // In every stretch of time, not only from the beginning.
    for (const [i, from] of passed.entries())
      for (const [j, to] of passed.entries())
        if (j >= i && j - i + 1 > capacity + (to - from) * rate + 1e-6) return false
    return true
  }
  t.pass()
})

t.test('a clock that stands still or goes back adds nothing', async (t) => {
  const bucket = new Bucket(0, 1000)
  t.equal(bucket.refill({ capacity: 5, rate: 1 }, 1000), 0)
  t.equal(bucket.refill({ capacity: 5, rate: 1 }, 900), 0)
  t.equal(waitFor(0.5, 0.001), 500)
  t.equal(waitFor(1, 0.001), 0)
})
