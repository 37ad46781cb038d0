/** Broken variants of the protocol. The simulation finds a stale decision in each, so it would find one in the real protocol. */

import t from 'tap'
import { inThread } from './simulation/thread.ts'
import { VARIANTS } from './simulation/variants.ts'

const AT_MOST = 100_000

/**
 * Where the search begins for the variants that few schedules show: with the first of these, as the simulation is today.
 * With another one the search takes longer.
 */
const FROM: Readonly<Record<string, number>> = {
  'memory keeps a list of blocks from before the block': 1251,
  'memory keeps the answer about a user from before the block': 2098,
  'an unlisted instance has a lease': 4463,
  'a reading from before the registration gives a lease': 614,
  'a worker has a lease from before it joined': 13_214,
  'a beat reports changes that workers have not applied': 2262,
  'a reading from before an announcement acknowledges it': 1967,
  'no margin': 4455,
}

// It takes seconds; on a busy machine, minutes.
t.setTimeout(600_000)

const SHRUNK = 'a lease never expires'

const searches = Object.keys(VARIANTS).map((variant) => ({
  variant,
  from: FROM[variant] ?? 1,
  schedules: AT_MOST,
  shrinks: variant === SHRUNK,
}))
const { results } = await inThread({ searches })

for (const [at, name] of Object.keys(VARIANTS).entries())
  t.test(name, async (t) => {
    const { found = null, figures, shrunk } = results[at] ?? {}
    t.ok(found, `found after ${figures?.schedules} schedules`)
    if (name !== SHRUNK) return
    t.ok((shrunk?.schedule.actions.length ?? Infinity) < (found?.schedule.actions.length ?? 0), 'shrunk')
    t.match(shrunk?.trace, / stale: .* was answered$/)
  })
