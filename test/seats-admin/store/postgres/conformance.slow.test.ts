/** The PostgreSQL driver conforms. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { conformance } from '../conformance.ts'
import { registryConformance } from '../registry-conformance.ts'
import { emptyDatabase, open } from './support.ts'

const server = await startPostgres(t)
t.jobs = 4
for (const suite of [conformance, registryConformance])
  suite(t, async (t) => open(t, { url: await emptyDatabase(server) }))
