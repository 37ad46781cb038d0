/** Broken variants of the protocol. The simulation finds a stale decision in each, so it would find one in the real protocol. */

import t from 'tap'
import { searchInThread } from './simulation/thread.ts'
import { VARIANTS } from './simulation/variants.ts'

/** Most variants need some hundreds of schedules, the hardest 10,000. */
const AT_MOST = 100_000

// It takes seconds; on a busy machine, minutes.
t.setTimeout(600_000)

for (const { name: variant } of VARIANTS) {
  t.test(variant, async (t) => {
    const order = { variant, from: 1, schedules: AT_MOST, kind: 'stale', shrinks: false } as const
    const { found, figures } = await searchInThread(order)
    t.ok(found, `found after ${figures.schedules} schedules`)
  })
}

t.test('a failing run is shrunk', async (t) => {
  const order = {
    variant: 'a lease never expires',
    from: 1,
    schedules: AT_MOST,
    kind: 'stale',
    shrinks: true,
  } as const
  const { found, shrunk } = await searchInThread(order)
  if (found === null || shrunk === null) throw new Error('not found')
  t.ok(shrunk.schedule.actions.length < found.schedule.actions.length)
  t.match(shrunk.trace, / stale: .* was answered$/)
})
