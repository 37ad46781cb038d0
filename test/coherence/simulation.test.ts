/**
 * Thousands of fleets in which everything goes wrong that may, each by a seed: no request is decided on what was, once a
 * write has been answered. `simulation/run.ts` runs as many more as wanted.
 */

import t from 'tap'
import { fromMacrotask } from './simulation/microtasks.ts'
import { REAL_PARTS } from './simulation/parts.ts'
import { scheduleOf } from './simulation/schedule.ts'
import { huntInThread } from './simulation/thread.ts'
import { World } from './simulation/world.ts'

const SCHEDULES = 20_000

// It takes some seconds; on a machine that does much else, minutes.
t.setTimeout(600_000)

t.test(
  'nothing stale, every write answered in time, all well again once the faults are mended',
  async (t) => {
    const order = { variant: null, from: 1, schedules: SCHEDULES, shrinks: true }
    const { found, figures, shrunk } = await huntInThread(order)
    if (found !== null) t.comment(`seed ${found.schedule.seed}: ${found.complaint.what}\n${shrunk?.story}`)
    t.equal(found, null)
    t.equal(figures.schedules, SCHEDULES)
    t.comment(JSON.stringify(figures))
    // A simulation in which nothing goes wrong proves nothing.
    for (const [name, count] of Object.entries(figures)) t.ok(count >= 2000, `${count} ${name}`)
  },
)

t.test('a seed tells the same story each time, and another one another', async (t) => {
  const story = (seed: number) =>
    fromMacrotask(() => {
      const lines: string[] = []
      new World(scheduleOf(seed), REAL_PARTS, (what) => lines.push(what)).run()
      return lines
    })
  const first = await story(7)
  t.ok(first.length > 10)
  t.same(await story(7), first)
  t.notSame(await story(8), first)
})
