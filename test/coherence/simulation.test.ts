/** Simulated fleets with every kind of fault, one for each seed: others with each commit and on each day. */

import t from 'tap'
import { holds, holdsAgain, inThread, searchFrom } from './simulation/thread.ts'
import { firstSeed, regressions } from './simulation/seeds.ts'

const SCHEDULES = 450
const { seed, origin } = firstSeed()
t.comment(`note: simulated schedules from seed ${seed} (${origin}); ${SCHEDULES} of them`)

const failed = regressions()
const searches = [searchFrom(seed, SCHEDULES), ...failed.map((each) => searchFrom(each.seed, 1))]
const { results, traces } = await inThread({ searches, traced: [7, 7, 8] })
const [explored, ...again] = results

t.test('no stale decision, every write acknowledged in time, and recovery after the last fault', async (t) =>
  holds(t, explored, SCHEDULES, 10),
)

t.test('the schedules that failed once', async (t) => {
  for (const [at, result] of again.entries()) holdsAgain(t, result, failed[at]?.reason ?? '')
})

t.test('the first seed depends on the commit and on the day', async (t) => {
  const day = new Date('2026-11-28T23:59:59Z')
  const { seed: first, origin: text } = firstSeed('0123456789abcdef', day)
  t.equal(text, 'commit 0123456789ab on 2026-11-28')
  t.equal(firstSeed('0123456789abcdef', new Date('2026-11-28T00:00:00Z')).seed, first)
  t.not(firstSeed('0123456789abcdef', new Date('2026-11-29T00:00:00Z')).seed, first)
  t.not(firstSeed('123456789abcdef0', day).seed, first)
  t.equal(firstSeed(null, day).origin, '2026-11-28')
})

t.test('a line of the regressions is a seed and a reason', async (t) => {
  t.same(regressions('# why\n\n17 two Seats of two states\n'), [
    { seed: 17, reason: 'two Seats of two states' },
  ])
  for (const line of ['17', 'x reason', '4294967296 reason'])
    t.throws(() => regressions(line), /not "SEED REASON"/)
})

t.test('a seed gives the same trace each time, and another seed another trace', async (t) => {
  const [first, second, other] = traces
  t.ok((first?.length ?? 0) > 10)
  t.same(second, first)
  t.notSame(other, first)
})
