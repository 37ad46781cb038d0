/** The retry budget, with given times. */

import t from 'tap'
import { RetryBudget } from '../../src/proxy/upstream.ts'

const settings = { perRequest: 2, share: 0.2, perSecond: 3 }

function taken(budget: RetryBudget, now: number): number {
  let count = 0
  while (budget.takeRetry(now)) count++
  return count
}

t.test('with few requests, three a second of the window', async (t) => {
  const budget = new RetryBudget(settings)
  t.equal(taken(budget, 0), 30)
  t.equal(budget.takeRetry(9_999), false)
  t.equal(taken(budget, 10_000), 30, 'they expire after ten seconds')
})

t.test('with many, a share of them', async (t) => {
  const budget = new RetryBudget(settings)
  for (let now = 0; now < 10_000; now++) budget.countRequest(now)
  t.equal(taken(budget, 9_999), 2000)
})

t.test('of the last ten seconds only', async (t) => {
  const budget = new RetryBudget(settings)
  for (let i = 0; i < 1000; i++) budget.countRequest(0)
  for (let i = 0; i < 500; i++) budget.countRequest(5_000)
  t.equal(taken(budget, 12_000), 100)
})

t.test('nothing accumulates in a long pause', async (t) => {
  const budget = new RetryBudget(settings)
  for (let i = 0; i < 1000; i++) budget.countRequest(3_000)
  t.equal(taken(budget, 1_003_000), 30)
})

t.test('none, if set to zero', async (t) => {
  t.equal(taken(new RetryBudget({ perRequest: 2, share: 0, perSecond: 0 }), 0), 0)
})
