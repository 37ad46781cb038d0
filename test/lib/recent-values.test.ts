/** What is kept of objects is bounded, whatever their number, and what is used stays. */

import t from 'tap'
import { RecentValues } from '../../src/lib/recent-values.ts'

t.test('the values of unused objects give way, those of used ones stay', async (t) => {
  const values = new RecentValues<object, number>()
  const used = {}
  values.set(used, -1)
  const keys = Array.from({ length: 50_000 }, () => ({}))
  for (const [at, key] of keys.entries()) {
    values.set(key, at)
    if (values.get(used) !== -1) t.fail(`a used value is gone after ${at}`)
  }
  const kept = keys.filter((key) => values.get(key) !== undefined)
  t.ok(kept.length >= 4000 && kept.length <= 8192, `${kept.length} of ${keys.length}`)
  t.equal(values.get(keys.at(-1) ?? {}), keys.length - 1)
  t.equal(values.get({}), undefined)
})
