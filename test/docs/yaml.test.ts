/** Every configuration, route table, policy file and file of Seats of the manual loads as the commands load it. */

import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { loadWithTables } from '../../src/cli/load-tables.ts'
import { readPolicyFile } from '../../src/config/policy-file.ts'
import { readSeatsFile } from '../../src/config/seats-file.ts'
import { folderWith } from '../cli/command-line.ts'
import { filesOf, variablesOf } from './configuration.ts'
import { pages, placeOf, runnable } from './pages.ts'

const blocks = pages.flatMap((page) => runnable(page, 'yaml'))

function load(text: string) {
  return loadWithTables(join(folderWith(t, filesOf(text)), 'gateway.config.yaml'), variablesOf(text))
}

function isSeatsFile(text: string): boolean {
  return 'seats' in parse(text)
}

t.ok(blocks.length >= 6, `${blocks.length} blocks`)
for (const block of blocks)
  t.test(placeOf(block), async (t) => {
    if ('cases' in parse(block.text)) {
      const file = join(folderWith(t, { 'policy.yaml': block.text }), 'policy.yaml')
      t.ok((await readPolicyFile(file, {})).cases.length > 0, 'its cases are read')
      return
    }
    if (isSeatsFile(block.text)) {
      const file = join(folderWith(t, { 'seats.yaml': block.text }), 'seats.yaml')
      t.ok((await readSeatsFile(file, {})).seats.length > 0, 'its Seats are read')
      return
    }
    const { table } = await load(block.text)
    t.ok(
      table.routes.some(({ place }) => place !== null),
      'its routes are compiled',
    )
  })

t.test('a fault in a block is found', async (t) => {
  for (const text of ['lisen: 0.0.0.0:8080\n', 'upstream: trainings\nroutes: { GET /a: trainings }\n'])
    await t.rejects(load(text), text)
})
