/** `seatgate verify` in a process of its own while a drill goes on, and what it costs the gateways. */

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyOutput, type VerifyReport } from '../../src/cli/verify/verify-report.ts'
import { MAIN, outcomeOf } from '../../test/cli/command-line.ts'
import { SPACE } from '../../test/fleet/fleet.ts'
import { cpuOf } from '../process-tree.ts'
import { Ending, temporaryFolder } from '../harness.ts'
import type { Drill } from './drill.ts'
import { commandFor, type DrilledFleet, startDrilledFleet } from './drilled-fleet.ts'

/**
 * Shares of the duration. `--during` starts after 0.2; the gateways' CPU time is measured in this window
 * before it.
 */
const WINDOW = { from: 0.05, long: 0.14 } as const
/** The share of the duration in which failures begin. */
const FAILING = 0.65
/** Milliseconds that something is away, in a run that is long enough. */
const AWAY = 20_000
/** Milliseconds of a cycle of the writer, which ends one session; it may be shorter. */
const CYCLE = 20_000

export interface DrillSettings {
  /** Milliseconds. */
  readonly duration: number
  /** Further options of `seatgate verify`. */
  readonly options: readonly string[]
  /** Receives the reports. */
  readonly reports: string
}

export interface DrillResult {
  readonly drill: Drill
  readonly code: number | null
  readonly report: VerifyReport
  /**
   * The CPU time of a gateway before anything fails, in ms per second: without and with `seatgate verify`.
   */
  readonly idle: number
  readonly verified: number
  /** The number of failures. */
  readonly turns: number
}

export async function runDrill(drill: Drill, settings: DrillSettings): Promise<DrillResult> {
  await using ending = new Ending()
  const folder = temporaryFolder(ending, drill.name)
  const drilled = await startDrilledFleet(ending, folder, drill)
  return await verify(drill, settings, drilled, folder, ending)
}

async function verify(
  drill: Drill,
  { duration, options, reports }: DrillSettings,
  { fleet, front }: DrilledFleet,
  folder: string,
  ending: Ending,
): Promise<DrillResult> {
  const { gateways, env, key } = fleet
  const window = WINDOW.long * duration
  const idle = await cpuOver(gateways, window)
  const secret = join(folder, 'secret')
  writeFileSync(secret, env['ACME_SECRET'] ?? '', { mode: 0o600 })
  const sessions: string[] = []
  for (let at = 0; at < Math.ceil(duration / CYCLE); at++)
    sessions.push((await fleet.session({ user: 'tester', providerSid: `${at}`, hashPerm: [] })).id)
  let turns = 0
  const { fail } = drill
  const work = async () => {
    const away = Math.min(AWAY, duration / 12)
    const end = performance.now() + FAILING * duration
    const { most = Infinity } = drill
    for (; performance.now() < end && turns < most; turns++) {
      await fail?.call(drill, fleet, turns, { away, rest: away }, ending)
      await sleep(away)
    }
  }
  const args = [
    ...['verify', '--url', front, '--space', SPACE, '--token-secret-file', secret],
    ...(drill.frontAlone === true ? [] : ['--each-instance']),
    ...sessions.map((session) => `--end-session=${session}`),
    ...(fail === undefined ? [] : ['--during', await commandFor(ending, work)]),
    ...['--duration', `${duration}ms`, '--json', ...options],
  ]
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { ...process.env, SEATGATE_API_KEY: key },
  })
  ending.teardown(() => child.kill('SIGKILL'))
  const costs = sleep(WINDOW.from * duration).then(() => cpuOver(gateways, window))
  const { code, out, err } = await outcomeOf(child)
  if (out === '') throw new Error(`${drill.name}: verify ended with ${code}: ${err}`)
  const report: VerifyReport = JSON.parse(out)
  writeFileSync(join(reports, `${drill.name}.json`), out)
  writeFileSync(join(reports, `${drill.name}.txt`), `${verifyOutput('text', report)}\n\n${err}`)
  if (report.result !== 'ok')
    for (const { name, log } of gateways)
      writeFileSync(join(reports, `${drill.name}-gateway-${name}.log`), log)
  return { drill, code, report, idle, verified: await costs, turns }
}

/**
 * The CPU time of a gateway, in ms per second.
 *
 * @param window in ms
 */
async function cpuOver(gateways: DrilledFleet['fleet']['gateways'], window: number): Promise<number> {
  const pids = gateways.map(({ pid }) => pid)
  const [began, before] = [performance.now(), cpuOf(pids)]
  await sleep(window)
  return (cpuOf(pids) - before) / (performance.now() - began) / pids.length
}
