import fc from 'fast-check'
import t from 'tap'
import { ConsecutiveNumbers } from '../../src/lib/consecutive-numbers.ts'

t.test(
  'numbers that arrive in any order, and repeatedly, count up to the first that is missing',
  async () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60 }), (arrivals) => {
        const numbers = new ConsecutiveNumbers()
        const arrived = new Set<number>()
        for (const number of arrivals) {
          numbers.add(number)
          arrived.add(number)
          let end = 0
          while (arrived.has(end + 1)) end++
          if (numbers.end !== end) return false
        }
        return true
      }),
    )
  },
)

t.test('a reading makes up for what is missing, and is no step back', async (t) => {
  const numbers = new ConsecutiveNumbers()
  for (const number of [2, 4, 7]) numbers.add(number)
  t.equal(numbers.end, 0)
  numbers.completeUpTo(3)
  t.equal(numbers.end, 4, '4 had arrived')
  numbers.completeUpTo(2)
  t.equal(numbers.end, 4)
  numbers.restart(1)
  t.equal(numbers.end, 1)
  numbers.completeUpTo(6)
  t.equal(numbers.end, 6, '7 was of the sequence before')
})

t.test('a flood beyond a gap takes a bounded amount of memory, and loses nothing for good', async (t) => {
  const numbers = new ConsecutiveNumbers()
  for (let number = 2; number <= 30_000; number++) numbers.add(number)
  numbers.completeUpTo(1)
  t.equal(numbers.end, 10_001, 'those beyond the bound are unknown')
  numbers.completeUpTo(30_000)
  t.equal(numbers.end, 30_000)
})
