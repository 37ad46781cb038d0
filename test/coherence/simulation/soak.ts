/**
 * Runs the simulation from the command line. Stops at the first schedule with a violation, and prints its trace.
 *
 * `node test/coherence/simulation/run.ts [--schedules 100000] [--from SEED] [--variant NAME]`
 * `--variant all` runs each broken variant, and prints after how many schedules it is found.
 */

import { parseArgs } from 'node:util'
import type { Figures } from './figures.ts'
import { search } from './search.ts'
import { VARIANTS } from './variants.ts'

const PROGRESS_EVERY = 10_000

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '100000' },
    from: { type: 'string', default: '1' },
    variant: { type: 'string' },
  },
})
const isAll = values.variant === 'all'

for (const variant of isAll ? Object.keys(VARIANTS) : [values.variant ?? null]) {
  const before = process.cpuUsage()
  const wanted = { variant, from: Number(values.from), schedules: Number(values.schedules), shrinks: !isAll }
  const { found, figures, shrunk } = await search(wanted, progress)
  const { user, system } = process.cpuUsage(before)
  const outcome = `${found === null ? 'no violation in' : 'found after'} ${figures.schedules} schedules`
  console.log(
    `${variant ?? 'real protocol'}: ${outcome}, ${((user + system) / 1e6).toFixed(1)} s of processor time`,
  )
  if (isAll) continue
  console.log(figures)
  if (found === null || shrunk === null) continue
  console.log(
    `seed ${found.schedule.seed}: ${found.violation.kind}: ${found.violation.what}\n${shrunk.trace}`,
  )
  process.exitCode = 1
}

function progress({ schedules: done, events }: Figures): void {
  if (!isAll && done % PROGRESS_EVERY === 0) console.log(`${done} schedules, ${events} events`)
}
