/** Sign-in sessions in SQLite. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { MIGRATIONS, mark, migrate } from '../../../../seats-admin/store/sqlite/sqlite-migrations.ts'
import { inTurn } from '../in-turn.ts'
import { sessionConformance } from '../session-conformance.ts'
import { NOW } from '../session-records.ts'
import { sessionsFromBefore, sessionsOfNone } from '../session-instances.ts'
import { databases, open, temporaryFolder } from './support.ts'

t.jobs = 2
const databaseOfTwo = inTurn(t, databases(2))
sessionConformance(t, async (t) => (await databaseOfTwo(t)).stores)

t.test('a store from before sessions existed', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  migrate(database, MIGRATIONS.slice(0, 2))
  database.exec(`INSERT INTO seats VALUES ('acme', 's1', 'Viewer', '["one"]', '["a:b"]', 0, 'alice', 1000, NULL, NULL);
    INSERT INTO api_keys VALUES ('acme', 'k1', 'ci', x'01', 'alice', 1000, NULL, NULL);
    INSERT INTO api_key_seats VALUES ('acme', 'k1', 0, 's1');
    INSERT INTO members VALUES ('acme', 'ann', 's1');
    INSERT INTO changes (seq, mark, tenant, kind, key) VALUES (1, 7, 'acme', 'seat', 's1');
    UPDATE counter SET seq = 1, mark = 7; PRAGMA journal_mode = WAL`)
  database.close()

  await sessionsOfNone(t, await open(t, { path }))
})

t.test('a store with sessions from before they remembered the session at the provider', async (t) => {
  const path = join(temporaryFolder(t), 'seatgate.db')
  const database = new DatabaseSync(path)
  mark(database)
  migrate(
    database,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex((step) => step.includes('provider_logouts')),
    ),
  )
  database.exec(`INSERT INTO sessions (tenant, id, cookie_hash, sub, hash_perm, issued_at, renew_at, expires_at, sealed)
    VALUES ('acme', 'AAAAAAAAAAAAAAAAAAAAAA', x'01', '"alice"', '[]', 1, 2, ${NOW + 1}, 'sealed'); PRAGMA journal_mode = WAL`)
  database.close()
  await sessionsFromBefore(t, await open(t, { path }))
})
