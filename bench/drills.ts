/**
 * `node bench/drills.ts [--duration 600s] [--only NAME[,NAME]] [--at-once N] [--reports FOLDER] [--
 * OPTION…]`: the drills of docs/verify.md. Each has a fleet of its own: three gateways on PostgreSQL and
 * Redis, and HAProxy in front of them. `seatgate verify` asks HAProxy and each gateway for the whole
 * duration, during which the failure of the drill is repeated. Writes each report as text, JSON and picture
 * to the folder, and prints a table in Markdown. Options after `--` are given to `seatgate verify`. Exits
 * with 1 if a run found a violation or could not check.
 */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { InvalidValue } from '../src/config/invalid-value.ts'
import { durationWithin } from '../src/config/units.ts'
import { refuse, runBench, say } from './harness.ts'
import { drills } from './drills/drill.ts'
import { type DrillResult, runDrill } from './drills/drill-run.ts'
import { drillTable, untestedOf } from './drills/drill-table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    duration: { type: 'string', default: '600s' },
    only: { type: 'string' },
    'at-once': { type: 'string', default: '1' },
    reports: { type: 'string', default: 'drill-reports' },
  },
})
const duration = durationWithin('10s', '24h')(values.duration)
const chosen = drills.filter(({ name }) => values.only?.split(',').includes(name) ?? true)
const lanes = Number(values['at-once'])
if (duration instanceof InvalidValue || chosen.length === 0 || !(lanes >= 1))
  refuse(`--duration is at least 10s; the drills are ${drills.map(({ name }) => name).join(', ')}`)
const settings = { duration, options: positionals, reports: resolve(values.reports) }
const results = new Map<string, DrillResult>()
const waiting = [...chosen]

await runBench(async () => {
  mkdirSync(settings.reports, { recursive: true })
  await Promise.all(Array.from({ length: Math.min(lanes, waiting.length) }, lane))
  const done = chosen.flatMap(({ name }) => results.get(name) ?? [])
  const untested = untestedOf(done.map(({ report }) => report)).join('\n')
  const summary = `${drillTable(done)}\n\nNot tested:\n\n${untested}\n`
  writeFileSync(join(settings.reports, 'summary.md'), summary)
  console.log(summary)
  return done.length === chosen.length && done.every(({ code }) => code === 0) ? 0 : 1
})

/** Runs one drill after another. A drill that cannot be run has no result. */
async function lane(): Promise<void> {
  for (let drill = waiting.shift(); drill !== undefined; drill = waiting.shift()) {
    say(`${new Date().toISOString()} ${drill.name} begins`)
    try {
      const result = await runDrill(drill, settings)
      results.set(drill.name, result)
      say(`${new Date().toISOString()} ${drill.name}: exit ${result.code}`)
    } catch (cause) {
      console.error(cause)
    }
  }
}
