/** The largest listings, from PostgreSQL. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { listings } from '../listings.ts'
import { emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })
listings(t, async (t) => open(t, { url: await emptyDatabase(server) }))
