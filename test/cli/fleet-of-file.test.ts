/** `seatgate fleet` on a store in a file: the one gateway that runs on it. */

import { hostname } from 'node:os'
import t from 'tap'
import { startWorld } from '../support/world.ts'
import { seatgateHere } from './in-process.ts'

t.test('the running gateway is listed', async (t) => {
  const world = await startWorld(t)
  const { code, out, err } = await seatgateHere(
    world.folder,
    ['fleet', '--json', '--config', world.config.file],
    {
      ACME_SECRET: 'an acme secret of at least 32 bytes',
      GLOBEX_SECRET: 'a globex secret of at least 32 bytes',
    },
  )
  t.equal(code, 0, err)
  const { seq, instances } = JSON.parse(out)
  t.same(instances, [
    { id: 'file', name: hostname(), seq, behind: 0, age_ms: 0, config: null, differs: false },
  ])
})
