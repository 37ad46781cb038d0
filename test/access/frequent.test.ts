/** The most frequent texts, compared with a count of all. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { FrequentTexts } from '../../src/access/replay/replayed-log.ts'

const COUNTERS = 64

function counted(texts: Iterable<string>) {
  const frequent = new FrequentTexts()
  const exact = new Map<string, number>()
  for (const text of texts) {
    frequent.add(text)
    exact.set(text, (exact.get(text) ?? 0) + 1)
  }
  return { frequent, exact }
}

t.test('few texts are counted exactly, and sorted', async () => {
  const texts = fc.array(fc.nat(COUNTERS - 1).map(String), { maxLength: 500 })
  fc.assert(
    fc.property(texts, (all) => {
      const { frequent, exact } = counted(all)
      assert.ok(frequent.isExact)
      assert.deepEqual(Object.fromEntries(frequent.top(COUNTERS)), Object.fromEntries(exact))
      const counts = frequent.top(5).map(([, count]) => count)
      assert.deepEqual(counts, [...exact.values()].sort((a, b) => b - a).slice(0, 5))
    }),
  )
})

t.test('of many, no count is too low or far too high, and no frequent one is missing', async () => {
  const rare = fc.nat(2000).map((number) => `rare ${number}`)
  const common = fc.constantFrom('a', 'b', 'c')
  const text = fc.oneof({ arbitrary: rare, weight: 5 }, { arbitrary: common, weight: 2 })
  fc.assert(
    fc.property(fc.array(text, { minLength: 200, maxLength: 2000, size: 'max' }), (all) => {
      const { frequent, exact } = counted(all)
      assert.equal(frequent.isExact, exact.size <= COUNTERS)
      const top = new Map(frequent.top(COUNTERS))
      for (const [each, count] of exact)
        if (count > all.length / COUNTERS) assert.ok(top.has(each), `${each} of ${all.length}: ${count}`)
      for (const [each, count] of top) {
        const real = exact.get(each) ?? 0
        assert.ok(count >= real && count <= real + all.length / COUNTERS)
      }
    }),
    { numRuns: 50 },
  )
})
