/** Every configuration and route table of the manual passes `seatgate check`. */

import t from 'tap'
import { folderWith, seatgate } from '../cli/command-line.ts'
import { filesOf, variablesOf } from './configuration.ts'
import { pages, placeOf, runnable } from './pages.ts'

const blocks = pages.flatMap((page) => runnable(page, 'yaml'))

t.ok(blocks.length >= 8, `${blocks.length} blocks`)
for (const block of blocks)
  t.test(placeOf(block), async (t) => {
    const folder = folderWith(t, filesOf(block.text))
    const { code, out, err } = await seatgate(folder, ['check'], variablesOf(block.text))
    t.equal(code, 0, err)
    t.match(out, /no faults/)
  })

t.test('a fault in a block is found', async (t) => {
  for (const text of ['lisen: 0.0.0.0:8080\n', 'upstream: trainings\nroutes: { GET /a: trainings }\n']) {
    const { code } = await seatgate(folderWith(t, filesOf(text)), ['check'])
    t.equal(code, 1, text)
  }
})
