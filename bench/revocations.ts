/**
 * `node bench/revocations.ts [--only PART[,PART]] [--instances N[,N]] [--turns N] [--quick]`: how soon revocations
 * have reached everything, and what they cost. Prints tables in Markdown. `--quick` is a trial: all is smaller.
 */

import { parseArgs } from 'node:util'
import { refuse, runBench } from './harness.ts'
import { measureFleet } from './revocations/fleets.ts'
import { measureSessionFlood } from './revocations/flood.ts'
import { measureCutoffs, measureTenants } from './revocations/large.ts'
import { load, machine } from './revocations/machine.ts'
import { cutoffTable, fleetTable, floodTable, tenantTable } from './revocations/tables.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    instances: { type: 'string', default: '3,10' },
    turns: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const { quick } = values
const turns = Number(values.turns ?? (quick ? 20 : 200))
const instances = values.instances.split(',').map(Number)

const parts: Readonly<Record<string, () => Promise<string>>> = {
  fleet: async () => {
    const measured = []
    for (const count of instances) measured.push(...(await measureFleet(count, turns)))
    return fleetTable(measured)
  },
  flood: async () =>
    floodTable(
      await measureSessionFlood({ open: quick ? 500 : 5000, rate: quick ? 100 : 1000, seconds: 10 }),
    ),
  tenant: async () => tenantTable(await measureTenants(quick ? 2000 : 100_000)),
  cutoffs: async () => cutoffTable(await measureCutoffs(quick ? 20_000 : 1_000_000)),
}
const only = values.only?.split(',') ?? Object.keys(parts)
if (
  !only.every((name) => name in parts) ||
  !(turns >= 2) ||
  !instances.every((each) => each >= 2 && each <= 10)
)
  refuse(`the parts are ${Object.keys(parts).join(', ')}; --turns is at least 2, --instances 2 to 10`)

await runBench(async () => {
  for (const name of only) {
    const before = load()
    console.log(`${await parts[name]?.()}\n\n${await machine()}; load ${before} before, ${load()} after.\n`)
  }
})
