/**
 * `node bench/pushes.ts [--only PART[,PART]] [--instances N[,N]] [--routes N[,N]] [--turns N] [--quick]`: how long a
 * push of route tables takes, when each instance decides by them, what requests notice, and whether a decision after
 * the 200 is by the former tables, also while something fails. Prints tables in Markdown. `--quick` is a trial: all
 * is smaller. Ends with 1 after a stale decision.
 */

import { parseArgs } from 'node:util'
import { refuse, runBench } from './harness.ts'
import { measureDrills } from './pushes/drills.ts'
import { measureFleet } from './pushes/fleets.ts'
import { drillTable, fleetTable, stallTable } from './pushes/push-tables.ts'
import { measureStalls } from './pushes/stall.ts'
import { load, machine } from './revocations/machine.ts'

/** Instances of the part `stall`. */
const STALLED = 3
/** Routes of the drills, unless they are given. */
const DRILLED = '1000'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    instances: { type: 'string' },
    routes: { type: 'string' },
    turns: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const { quick } = values
const turns = Number(values.turns ?? (quick ? 4 : 30))
const instances = numbersOf(values.instances ?? (quick ? '3' : '3,10'))
const sizes = numbersOf(values.routes ?? (quick ? '10,1000' : '10,1000,10000'))

interface Report {
  readonly text: string
  readonly stale: number
}

const parts: Readonly<Record<string, () => Promise<Report>>> = {
  async fleet() {
    const measured = []
    for (const count of instances)
      for (const redis of [true, false]) measured.push(...(await measureFleet(count, redis, sizes, turns)))
    return { text: fleetTable(measured), stale: staleOf(measured.flatMap((each) => each.turns)) }
  },
  stall: async () => ({ text: stallTable(await measureStalls(STALLED, sizes, turns)), stale: 0 }),
  async drills() {
    const measured = []
    for (const size of numbersOf(values.routes ?? DRILLED))
      measured.push(...(await measureDrills(size, Math.ceil(turns / 4))))
    return { text: drillTable(measured), stale: staleOf(measured) }
  },
}
const only = values.only?.split(',') ?? Object.keys(parts)
const isSmall = (count: number) => count >= 2 && count <= 10
if (!only.every((name) => name in parts) || !(turns >= 1) || !instances.every(isSmall))
  refuse(`the parts are ${Object.keys(parts).join(', ')}; --turns is at least 1, --instances 2 to 10`)
if (!sizes.every((size) => size >= 1 && size <= 50_000)) refuse('--routes is 1 to 50,000')

function numbersOf(list: string): number[] {
  return list.split(',').map(Number)
}

function staleOf(measured: readonly { readonly stale: number }[]): number {
  return measured.reduce((sum, { stale }) => sum + stale, 0)
}

await runBench(async () => {
  let stale = 0
  for (const name of only) {
    const before = load()
    const report = await parts[name]?.()
    stale += report?.stale ?? 0
    console.log(`${report?.text}\n\n${await machine()}; load ${before} before, ${load()} after.\n`)
  }
  return stale > 0 ? 1 : 0
})
