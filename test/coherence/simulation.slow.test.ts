/** More simulated fleets than the quick test has, and others. */

import t from 'tap'
import { firstSeed } from './simulation/seeds.ts'
import { holds, inThread, searchFrom } from './simulation/thread.ts'

// It takes seconds; on a busy machine, minutes.
t.setTimeout(600_000)

const SCHEDULES = 8000
// Beyond those of the quick test.
const seed = firstSeed().seed + 1000
t.comment(`note: simulated schedules from seed ${seed}`)

t.test(
  'no stale decision, every write acknowledged in time, and recovery after the last fault',
  async (t) => {
    const { results } = await inThread({ searches: [searchFrom(seed, SCHEDULES)] })
    holds(t, results[0], SCHEDULES, 800, { partial: 300 })
  },
)
