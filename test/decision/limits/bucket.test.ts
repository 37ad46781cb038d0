/** The bucket and its table, with a clock of the test. */

import fc from 'fast-check'
import t from 'tap'
import { BoundedTable, Bucket, waitFor } from '../../../src/decision/limits/bucket.ts'

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

interface Entry {
  readonly key: string | null
  full: boolean
}

function tableOf(bound: number) {
  return new BoundedTable<Entry>({
    bound,
    create: (key, like) => ({ key, full: like?.full ?? true }),
    isForgettable: ({ full }) => full,
  })
}

t.test('a full table forgets full entries only', async (t) => {
  const table = tableOf(3)
  for (const key of ['a', 'b', 'c']) table.get(key).full = key === 'b'
  t.equal(table.get('d').key, 'd', 'in the place of b')
  t.equal(table.get('a').full, false)
  t.equal(table.get('c').full, false)
})

t.test('without a free place, new keys share entries, and a flood of them is bounded', async (t) => {
  const table = tableOf(10)
  for (let i = 0; i < 10; i++) table.get(`spent ${i}`).full = false
  for (let i = 0; i < 20_000; i++) table.get(`flood ${i}`).full = false
  t.ok(table.size <= 10 + 1024, `${table.size} entries`)
  for (let i = 0; i < 10; i++) t.equal(table.get(`spent ${i}`).full, false, 'no spent entry came back full')
})

t.test('a key that gets its own entry keeps what the shared one had', async (t) => {
  const table = tableOf(1)
  const first = table.get('first')
  first.full = false
  const shared = table.get('second')
  t.equal(shared.key, null)
  shared.full = false
  first.full = true
  const own = table.get('second')
  t.equal(own.key, 'second')
  t.equal(own.full, false, 'not a fresh burst')
})
