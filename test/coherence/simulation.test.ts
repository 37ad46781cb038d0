/** Simulated fleets with every kind of fault, one for each seed: others with each commit and on each day. */

import t from 'tap'
import { holds, holdsAgain, inThread, searchFrom } from './simulation/thread.ts'
import { firstSeed, regressions } from './simulation/seeds.ts'

const SCHEDULES = 250
const { seed, origin } = firstSeed()
t.comment(`note: simulated schedules from seed ${seed} (${origin}); ${SCHEDULES} of them`)

const failed = regressions()
const searches = [searchFrom(seed, SCHEDULES), ...failed.map((each) => searchFrom(each.seed, 1))]
const { results, traces } = await inThread({ searches, traced: [7, 7, 8] })
const [explored, ...again] = results

t.test('no stale decision, every write acknowledged in time, and recovery after the last fault', async (t) =>
  holds(t, explored, SCHEDULES, 5),
)

t.test('the schedules that failed once', async (t) => {
  for (const [at, result] of again.entries()) holdsAgain(t, result, failed[at]?.reason ?? '')
})

t.test('a seed gives the same trace each time, and another seed another trace', async (t) => {
  const [first, second, other] = traces
  t.ok((first?.length ?? 0) > 10)
  t.same(second, first)
  t.notSame(other, first)
})
