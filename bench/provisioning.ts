/**
 * `node bench/provisioning.ts [--only PART[,PART]] [--seed N] [--quick]`: a week of a company whose identity provider
 * keeps users and groups by SCIM, with three instances: what the requests cost, how soon they are closed, also while
 * an instance or Redis is away, and whether a decision after a 2xx is stale. Prints tables in Markdown. `--quick` is
 * a trial: all is smaller.
 */

import { parseArgs } from 'node:util'
import { Ending, refuse, runBench, say } from './harness.ts'
import { measureDrills } from './provisioning/drills.ts'
import { dayTable, drillTable, kindTable } from './provisioning/tables.ts'
import { measureWeek, type Size, startCompany } from './provisioning/week.ts'
import { load, machine } from './revocations/machine.ts'

const COMPANY: Size = {
  ...{ users: 5000, groups: 200, joiners: 25, movers: 100, leavers: 25 },
  ...{ renamed: 10, revoked: 25, reorganised: 200 },
}
/** Enough groups that each drill can rename others. */
const DRILLED: Pick<Size, 'users' | 'groups'> = { users: 300, groups: 60 }
const QUICK: Size = {
  ...{ users: 200, groups: 20, joiners: 5, movers: 10, leavers: 5 },
  ...{ renamed: 3, revoked: 5, reorganised: 30 },
}

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    seed: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const { quick } = values
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))

interface Report {
  readonly text: string
  /** Stale decisions, and streams that did not end. */
  readonly faults: number
}

const parts: Readonly<Record<string, (ending: Ending) => Promise<Report>>> = {
  async week(ending) {
    const size = quick ? QUICK : COMPANY
    const week = await measureWeek(await startCompany(ending, seed, size), size)
    return { text: `${dayTable(week.days)}\n\n${kindTable(week)}`, faults: staleOf(week.days) + week.uncut }
  },
  async drills(ending) {
    const measured = await measureDrills(await startCompany(ending, seed, DRILLED), quick ? 5000 : 90_000)
    return { text: drillTable(measured), faults: staleOf(measured) }
  },
}
const only = values.only?.split(',') ?? Object.keys(parts)
if (!only.every((name) => name in parts) || !Number.isInteger(seed))
  refuse(`the parts are ${Object.keys(parts).join(', ')}; --seed is an integer`)

function staleOf(measured: readonly { readonly stale: number }[]): number {
  return measured.reduce((sum, { stale }) => sum + stale, 0)
}

await runBench(async () => {
  let faults = 0
  for (const name of only) {
    say(`${name}, seed ${seed}`)
    const before = load()
    await using ending = new Ending()
    const report = await parts[name]?.(ending)
    faults += report?.faults ?? 0
    console.log(
      `${report?.text}\n\n${await machine()}; load ${before} before, ${load()} after; seed ${seed}.\n`,
    )
  }
  return faults > 0 ? 1 : 0
})
