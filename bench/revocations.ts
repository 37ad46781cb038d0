/**
 * `node bench/revocations.ts [--only PART[,PART]] [--instances N[,N]] [--turns N] [--quick]`: what revocations cost, and
 * how soon they have reached everything. Prints tables in Markdown.
 */

import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { refuse, runBench } from './harness.ts'
import { measureFleet } from './revocations/fleets.ts'
import { fleetTable } from './revocations/tables.ts'

const PARTS = ['fleet'] as const

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: PARTS.join(',') },
    instances: { type: 'string', default: '3,10' },
    turns: { type: 'string', default: '200' },
  },
})
const only = values.only.split(',')
const turns = Number(values.turns)
const fleets = values.instances.split(',').map(Number)
if (
  !only.every((each) => PARTS.some((part) => part === each)) ||
  !(turns >= 2) ||
  !fleets.every((each) => each >= 2)
)
  refuse(`the parts are ${PARTS.join(', ')}; --turns and --instances are at least 2`)

await runBench(async () => {
  const before = loadavg()
  if (only.includes('fleet')) {
    const measured = []
    for (const instances of fleets) measured.push(...(await measureFleet(instances, turns)))
    console.log(fleetTable(measured))
  }
  console.log(`load average before ${before} after ${loadavg()}`)
})
