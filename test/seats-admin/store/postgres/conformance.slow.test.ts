/** The PostgreSQL driver conforms. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { blockConformance } from '../block-conformance.ts'
import { auditConformance } from '../audit-conformance.ts'
import { conformance } from '../conformance.ts'
import { grantConformance } from '../grant-conformance.ts'
import { registryConformance } from '../registry-conformance.ts'
import { seatsFileConformance } from '../seats-file-conformance.ts'
import { versionConformance } from '../version-conformance.ts'
import { userConformance } from '../user-conformance.ts'
import { emptyDatabase, open } from './support.ts'

const server = await startPostgres(t)
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
  suite(t, async (t) => open(t, { url: await emptyDatabase(server) }))
