/** Listings by what is granted among 45,000 Seats, from PostgreSQL. */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { grantScale, seatRows } from '../grant-scale.ts'
import { databaseOf, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })

grantScale(t, async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  await server.query(
    `INSERT INTO seatgate.seats (tenant, id, name, spaces, permissions, created_by, created_at)
     SELECT 'acme', id, name, spaces, permissions, '', 1
     FROM json_to_recordset($1) AS seat (id text, name text, spaces text, permissions text)`,
    [JSON.stringify([...seatRows()])],
    databaseOf(url),
  )
  return store
})
