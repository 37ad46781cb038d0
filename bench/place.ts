/** What a run of a bench works in: a temporary folder, the data, and the upstreams. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Place } from './measure.ts'
import type { Ending } from './scale/ending.ts'
import { startUpstreams } from './upstreams.ts'
import { makeWorld } from './world.ts'

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
