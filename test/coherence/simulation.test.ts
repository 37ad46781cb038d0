/**
 * Simulated fleets with every kind of fault, one for each seed: once a write has been acknowledged, no request is decided
 * on the state before it. `simulation/run.ts` runs any number of schedules.
 */

import t from 'tap'
import { fromMacrotask } from './simulation/microtasks.ts'
import { REAL_PARTS } from './simulation/parts.ts'
import { scheduleOf } from './simulation/schedule.ts'
import { searchInThread } from './simulation/thread.ts'
import { World } from './simulation/world.ts'

const SCHEDULES = 20_000

// It takes seconds; on a busy machine, minutes.
t.setTimeout(600_000)

t.test(
  'no stale decision, every write acknowledged in time, and recovery after the last fault',
  async (t) => {
    const order = { variant: null, from: 1, schedules: SCHEDULES, shrinks: true }
    const { found, figures, shrunk } = await searchInThread(order)
    if (found !== null) t.comment(`seed ${found.schedule.seed}: ${found.violation.what}\n${shrunk?.trace}`)
    t.equal(found, null)
    t.equal(figures.schedules, SCHEDULES)
    t.comment(JSON.stringify(figures))
    // A simulation without faults proves nothing.
    for (const [name, count] of Object.entries(figures)) t.ok(count >= 2000, `${count} ${name}`)
  },
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
