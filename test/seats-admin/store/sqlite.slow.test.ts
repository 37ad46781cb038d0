/** The embedded driver conforms. */

import { join } from 'node:path'
import t from 'tap'
import { conformance } from './conformance.ts'
import { registryConformance } from './registry-conformance.ts'
import { open, temporaryFolder } from './sqlite/support.ts'

t.jobs = 4
for (const suite of [conformance, registryConformance])
  suite(t, (t) => open(t, { path: join(temporaryFolder(t), 'seatgate.db') }))
