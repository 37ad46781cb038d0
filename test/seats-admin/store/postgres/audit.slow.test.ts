/** The audit on PostgreSQL: tampering, and versions that keep none. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { tampering } from '../tampering.ts'
import { databaseOf, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })
t.jobs = 4

tampering(t, async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  return {
    store,
    run: async (script) => {
      await server.query(`SET search_path = seatgate; ${script}`, [], databaseOf(url))
    },
  }
})
