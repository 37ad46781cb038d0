/** The embedded driver conforms. */

import { join } from 'node:path'
import t from 'tap'
import { auditConformance } from './audit-conformance.ts'
import { blockConformance } from './block-conformance.ts'

import { conformance } from './conformance.ts'
import { grantConformance } from './grant-conformance.ts'
import { registryConformance } from './registry-conformance.ts'
import { userConformance } from './user-conformance.ts'
import { seatsFileConformance } from './seats-file-conformance.ts'
import { versionConformance } from './version-conformance.ts'
import { open, temporaryFolder } from './sqlite/support.ts'

t.jobs = 4
for (const suite of [
  conformance,
  grantConformance,
  registryConformance,
  blockConformance,
  versionConformance,
  seatsFileConformance,
  userConformance,
  auditConformance,
])
  suite(t, (t) => open(t, { path: join(temporaryFolder(t), 'seatgate.db') }))
