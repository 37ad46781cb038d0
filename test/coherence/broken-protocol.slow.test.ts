/** The protocol broken on purpose: the simulation finds a stale decision in each of them, so it would in the real one. */

import t from 'tap'
import { huntInThread } from './simulation/thread.ts'
import { VARIANTS } from './simulation/variants.ts'

/** Most are found within some hundreds, the hardest within 10,000. */
const AT_MOST = 100_000

// It takes some seconds; on a machine that does much else, minutes.
t.setTimeout(600_000)

for (const { name: variant } of VARIANTS) {
  t.test(variant, async (t) => {
    const order = { variant, from: 1, schedules: AT_MOST, kind: 'stale', shrinks: false } as const
    const { found, figures } = await huntInThread(order)
    t.ok(found, `found after ${figures.schedules} schedules`)
  })
}

t.test('a run that went wrong is told with less in it', async (t) => {
  const order = {
    variant: 'a lease never ends',
    from: 1,
    schedules: AT_MOST,
    kind: 'stale',
    shrinks: true,
  } as const
  const { found, shrunk } = await huntInThread(order)
  if (found === null || shrunk === null) throw new Error('not found')
  t.ok(shrunk.schedule.actions.length < found.schedule.actions.length)
  t.match(shrunk.story, / stale: .* was answered$/)
})
