/** Simulated fleets with every kind of fault, one for each seed. `simulation/run.ts` runs any number of schedules. */

import type { Test } from 'tap'
import { searchInThread } from './simulation/thread.ts'

/**
 * Once a write has been acknowledged, no request is decided on the state before it.
 * @param from the first seed
 * @param least number of each event
 */
export async function holds(t: Test, from: number, schedules: number, least: number): Promise<void> {
  const [report] = await searchInThread({ variant: null, from, schedules, shrinks: true })
  if (report === undefined) throw new Error('no report')
  const { found, figures, shrunk } = report
  if (found !== null) t.comment(`seed ${found.schedule.seed}: ${found.violation.what}\n${shrunk?.trace}`)
  t.equal(found, null)
  t.equal(figures.schedules, schedules)
  t.comment(JSON.stringify(figures))
  // A simulation without faults proves nothing.
  for (const [name, count] of Object.entries(figures)) t.ok(count >= least, `${count} ${name}`)
}
