/** Simulated fleets with every kind of fault, one for each seed. */

import t from 'tap'
import { holds } from './simulation/thread.ts'
import { fromMacrotask } from './simulation/microtasks.ts'
import { REAL_PARTS } from './simulation/parts.ts'
import { scheduleOf } from './simulation/schedule.ts'
import { World } from './simulation/world.ts'

t.test('no stale decision, every write acknowledged in time, and recovery after the last fault', (t) =>
  holds(t, 1, 1000, 100),
)

t.test('a seed gives the same trace each time, and another seed another trace', async (t) => {
  const trace = (seed: number) =>
    fromMacrotask(() => {
      const lines: string[] = []
      new World(scheduleOf(seed), REAL_PARTS, (what) => lines.push(what)).run()
      return lines
    })
  const first = await trace(7)
  t.ok(first.length > 10)
  t.same(await trace(7), first)
  t.notSame(await trace(8), first)
})
