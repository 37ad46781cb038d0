/**
 * Runs the simulation from the command line. Stops at the first schedule with a violation, and prints its trace.
 *
 * `node test/coherence/simulation/run.ts [--schedules 100000] [--from SEED] [--variant NAME]`
 * `--variant all` runs each broken variant, and prints after how many schedules it is found.
 */

import { parseArgs } from 'node:util'
import type { Figures } from './figures.ts'
import { type Search, search, type SearchResult } from './search.ts'
import { fromMacrotask } from './microtasks.ts'
import { shrunk } from './shrink.ts'
import { partsOf, type Variant, VARIANTS } from './variants.ts'

const PROGRESS_EVERY = 10_000

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '100000' },
    from: { type: 'string', default: '1' },
    variant: { type: 'string' },
  },
})
const from = Number(values.from)
const schedules = Number(values.schedules)

if (values.variant === 'all') for (const variant of VARIANTS) await findVariant(variant)
else await runOne(partsOf(values.variant ?? null))

/** Sets exit code 1 on a violation. */
async function runOne(parts: Search['parts']): Promise<void> {
  const { result, seconds } = await timed({ parts, from, schedules }, progress)
  const { found, figures } = result
  console.log(figures, `${seconds.toFixed(1)} s of processor time`)
  if (found === null) return
  console.log(`seed ${found.schedule.seed}: ${found.violation.kind}: ${found.violation.what}`)
  console.log(await fromMacrotask(() => shrunk(found, parts).trace))
  process.exitCode = 1
}

async function findVariant({ name, parts }: Variant): Promise<void> {
  const { result, seconds } = await timed({ parts, from, schedules, kind: 'stale' })
  const after = result.found === null ? 'not found' : `found after ${result.figures.schedules} schedules`
  console.log(`${name}: ${after}, ${seconds.toFixed(1)} s`)
}

async function timed(
  wanted: Search,
  progress?: (figures: Figures) => void,
): Promise<{ result: SearchResult; seconds: number }> {
  const before = process.cpuUsage()
  const result = await search(wanted, progress)
  const { user, system } = process.cpuUsage(before)
  return { result, seconds: (user + system) / 1e6 }
}

function progress({ schedules: done, events }: Figures): void {
  if (done % PROGRESS_EVERY === 0) console.log(`${done} schedules, ${events} events`)
}
