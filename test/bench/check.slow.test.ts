/** Seatgate as a peer of the benchmark has the right answers. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { faultsOf } from '../../bench/check.ts'
import { seatgate } from '../../bench/peers/seatgate.ts'
import { makeWorld } from '../../bench/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'seatgate-check-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))

t.test('no fault', async (t) => {
  const world = await makeWorld(join(folder, 'world'))
  t.same(await faultsOf(seatgate, world, join(folder, 'seatgate')), [])
})
