/** Simulated fleets with every kind of fault, one for each seed. `simulation/run.ts` runs any number of schedules. */

import type { Test } from 'tap'
import { searchInThread } from './simulation/thread.ts'

/** Once a write has been acknowledged, no request is decided on the state before it. @param least number of each event */
export async function holds(t: Test, schedules: number, least: number): Promise<void> {
  const order = { variant: null, from: 1, schedules, shrinks: true }
  const { found, figures, shrunk } = await searchInThread(order)
  if (found !== null) t.comment(`seed ${found.schedule.seed}: ${found.violation.what}\n${shrunk?.trace}`)
  t.equal(found, null)
  t.equal(figures.schedules, schedules)
  t.comment(JSON.stringify(figures))
  // A simulation without faults proves nothing.
  for (const [name, count] of Object.entries(figures)) t.ok(count >= least, `${count} ${name}`)
}
