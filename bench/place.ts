/** What a run of the bench works in: a temporary folder, the data, and the upstreams. */

import { join } from 'node:path'
import { bindThisProcess } from './cores.ts'
import type { Ending } from './harness.ts'
import { startUpstreams, type Upstreams } from './upstreams.ts'
import { makeWorld, type World } from './world.ts'

export interface Place {
  readonly world: World
  readonly upstreams: Upstreams
  readonly folder: string
}

/** Makes the data and starts the upstreams. From then on, this process leaves the first core to the peers. */
export async function openPlace(ending: Ending, folder: string): Promise<Place> {
  bindThisProcess()
  const world = await makeWorld(join(folder, 'world'))
  return { folder, world, upstreams: await startUpstreams(ending, join(folder, 'upstream')) }
}
