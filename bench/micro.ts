/**
 * `npm run bench:micro`: the cost of each stage of a request by itself. Prints Markdown; `npm run bench`
 * includes it.
 */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runBench, temporaryFolder } from './harness.ts'
import { stageCosts } from './micro/stages.ts'
import { machine } from './results.ts'
import { stageTable } from './tables.ts'
import { makeWorld } from './world.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })

await runBench(async (ending) => {
  const folder = temporaryFolder(ending, 'micro')
  const world = await makeWorld(join(folder, 'world'))
  const stages = await stageCosts(world, folder, Number(values.rounds))
  console.log([machine(), '', ...stageTable({ stages })].join('\n'))
})
