/** A budget of events that refills with time. */

import t from 'tap'
import { EventBudget } from '../../src/lib/event-budget.ts'
import { holdTime } from '../support/held-time.ts'

const LIMITS = { burst: 10, rate: 4 }
const taken = (budget: EventBudget, times: number) =>
  Array.from({ length: times }, () => budget.take()).filter((each) => each).length

t.test('what is not permitted is not counted', async (t) => {
  const time = holdTime(t)
  const budget = new EventBudget(LIMITS)
  t.equal(taken(budget, 100), 10)
  time.pass(1000)
  t.equal(taken(budget, 100), 4)
  time.pass(100_000)
  t.equal(taken(budget, 100), 10, 'never more than at once')
})

t.test('calls between two events do not lose the time', async (t) => {
  const time = holdTime(t)
  const budget = new EventBudget(LIMITS)
  taken(budget, 10)
  let all = 0
  for (let i = 0; i < 100; i++) {
    time.pass(100)
    all += taken(budget, 1)
  }
  t.equal(all, 40)
})

t.test('a debt is paid first', async (t) => {
  const time = holdTime(t)
  const budget = new EventBudget(LIMITS)
  for (let i = 0; i < 18; i++) budget.spend()
  t.equal(budget.isUsedUp, true)
  time.pass(1000)
  t.equal(budget.isUsedUp, true)
  time.pass(1000)
  t.equal(budget.isUsedUp, false)
  t.equal(budget.spend(), false)
})
