/** What a run of a bench works in: its cores, a temporary folder, the data, and the upstreams. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bindThisProcess } from './cores.ts'
import type { Place } from './measure.ts'
import { Ending } from './scale/ending.ts'
import { startUpstreams } from './upstreams.ts'
import { makeWorld } from './world.ts'

/** Runs a program of the bench, and ends what it has started: after an error and after a signal too. */
export async function runBench(main: (ending: Ending) => Promise<void>): Promise<void> {
  bindThisProcess()
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))
  const ending = new Ending()
  try {
    await main(ending)
  } finally {
    await ending.run()
  }
}

/** A temporary folder, which is removed at the end. */
export function temporaryFolder(ending: Ending, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `seatgate-${name}-`))
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once('exit', remove)
  ending.teardown(remove)
  return folder
}

/** Makes the data, and starts the upstreams until the end. */
export async function openPlace(ending: Ending, folder: string): Promise<Place> {
  const world = await makeWorld(join(folder, 'world'))
  const upstreams = await startUpstreams(join(folder, 'upstream'))
  ending.teardown(() => upstreams.stop())
  return { folder, world, upstreams }
}
