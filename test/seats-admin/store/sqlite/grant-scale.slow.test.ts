/** Listings by what is granted among 45,000 Seats, from SQLite. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { grantScale, seatRows } from '../grant-scale.ts'
import { open, temporaryFolder } from './support.ts'

grantScale(t, async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path })
  const database = new DatabaseSync(path)
  const insert = database.prepare(
    `INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at) VALUES ('acme', ?, ?, ?, ?, '', 1)`,
  )
  database.exec('BEGIN')
  for (const { id, name, spaces, permissions } of seatRows()) insert.run(id, name, spaces, permissions)
  database.exec('COMMIT')
  database.close()
  return store
})
