/** More simulated fleets than the quick test has, and others. */

import t from 'tap'
import { holds } from './simulation/thread.ts'

// It takes seconds; on a busy machine, minutes.
t.setTimeout(600_000)

t.test('no stale decision, every write acknowledged in time, and recovery after the last fault', (t) =>
  holds(t, 1001, 8000, 800),
)
