/**
 * The simulation by hand, for as many schedules as wanted. Stops at the first one that goes wrong, and tells it.
 *
 * `node test/coherence/simulation/run.ts [--schedules 100000] [--from SEED] [--variant NAME]`
 * `--variant all` breaks the protocol in each known way, one after the other, and says how soon that is found.
 */

import { parseArgs } from 'node:util'
import type { Figures } from './figures.ts'
import { type Hunt, hunt, type Outcome } from './hunt.ts'
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

/** Fails the process when something went wrong. */
async function runOne(parts: Hunt['parts']): Promise<void> {
  const { outcome, seconds } = await timed({ parts, from, schedules }, progress)
  const { found, figures } = outcome
  console.log(figures, `${seconds.toFixed(1)} s of processor time`)
  if (found === null) return
  console.log(`seed ${found.schedule.seed}: ${found.complaint.kind}: ${found.complaint.what}`)
  console.log(await fromMacrotask(() => shrunk(found, parts).story))
  process.exitCode = 1
}

async function findVariant({ name, parts }: Variant): Promise<void> {
  const { outcome, seconds } = await timed({ parts, from, schedules, kind: 'stale' })
  const after = outcome.found === null ? 'not found' : `found after ${outcome.figures.schedules} schedules`
  console.log(`${name}: ${after}, ${seconds.toFixed(1)} s`)
}

async function timed(
  wanted: Hunt,
  told?: (figures: Figures) => void,
): Promise<{ outcome: Outcome; seconds: number }> {
  const before = process.cpuUsage()
  const outcome = await hunt(wanted, told)
  const { user, system } = process.cpuUsage(before)
  return { outcome, seconds: (user + system) / 1e6 }
}

function progress({ schedules: done, events }: Figures): void {
  if (done % PROGRESS_EVERY === 0) console.log(`${done} schedules, ${events} events`)
}
