/** The audit in an SQLite file: tampering, and versions that keep none. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { tampering } from '../tampering.ts'
import { open, temporaryFolder } from './support.ts'

t.jobs = 4

tampering(t, async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const store = await open(t, { path })
  return {
    store,
    run: async (script) => {
      using database = new DatabaseSync(path, { timeout: 5000 })
      database.exec(script)
    },
  }
})
