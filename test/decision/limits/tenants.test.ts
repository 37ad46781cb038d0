/** A tenant with more callers than a process holds keys, without Redis: it makes its own callers share, and no others. */

import t from 'tap'
import { LimitedKeys } from '../../../src/decision/limits/limited-keys.ts'
import type { RateLimit } from '../../../src/model/rate-limit.ts'

const LIMIT: RateLimit = { name: 'writes', limit: 1, window: 3_600_000, burst: 2, per: 'caller' }

t.test(
  'new callers of another tenant have their whole burst, and its old ones what they had left',
  async (t) => {
    const keys = new LimitedKeys(LIMIT, { now: () => 0, lender: null, processes: () => 1 }, 100)
    const take = (user: string, tenant: string): boolean => {
      const key = keys.find(`u ${tenant} ${user}`, tenant)
      if (keys.state(key, 0) !== 0) return false
      keys.spend(key, 0)
      return true
    }
    t.ok(take('early', 'calm'))
    for (let at = 0; at < 10_000; at++) take(`flood ${at}`, 'greedy')
    t.same([take('early', 'calm'), take('early', 'calm')], [true, false])
    for (let at = 0; at < 40; at++)
      t.same(
        [1, 2, 3].map(() => take(`late ${at}`, 'calm')),
        [true, true, false],
        `late ${at}`,
      )
    t.notOk(take('one more', 'greedy') && take('one more', 'greedy') && take('one more', 'greedy'))
  },
)

t.test('no caller of the tenant with too many gets more than the limit', async (t) => {
  const keys = new LimitedKeys(LIMIT, { now: () => 0, lender: null, processes: () => 1 }, 10)
  const passed = new Map<string, number>()
  for (let round = 0; round < 20; round++)
    for (const [tenant, count] of [
      ['greedy', 30],
      ['calm', 4],
    ] as const)
      for (let at = 0; at < count; at++) {
        const name = `u ${tenant} ${at}`
        const key = keys.find(name, tenant)
        if (keys.state(key, 0) !== 0) continue
        keys.spend(key, 0)
        passed.set(name, (passed.get(name) ?? 0) + 1)
      }
  for (const [name, count] of passed) t.ok(count <= LIMIT.burst, `${name}: ${count}`)
  for (let at = 0; at < 4; at++) t.equal(passed.get(`u calm ${at}`), LIMIT.burst)
})
