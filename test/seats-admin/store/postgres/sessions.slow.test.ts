/** Sign-in sessions in PostgreSQL. */

import t from 'tap'
import { Connection } from '../../../../seats-admin/store/postgres/postgres-connection.ts'
import { sessionOf } from '../../../../seats-admin/store/postgres/connection-pools.ts'
import { MIGRATIONS, migrate } from '../../../../seats-admin/store/postgres/postgres-migrations.ts'
import { parseUrl } from '../../../../seats-admin/store/postgres/url.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { inTurn } from '../in-turn.ts'
import { sessionConformance } from '../session-conformance.ts'
import { NOW } from '../session-records.ts'
import { sessionsFromBefore, sessionsOfNone, useAtOnce } from '../session-instances.ts'
import { databaseOf, databases, emptyDatabase, open } from './support.ts'

const server = await startPostgres(t, { fsync: false })
t.jobs = 2
const databaseOfTwo = inTurn(t, databases(server, 2))
sessionConformance(t, async (t) => (await databaseOfTwo(t)).stores)

t.test('a handle is valid once, whatever the isolation level of the database', async (t) => {
  const url = await emptyDatabase(server)
  const set = `ALTER DATABASE "${databaseOf(url)}" SET default_transaction_isolation = 'serializable'`
  await server.query(set)
  await useAtOnce(t, [await open(t, { url }), await open(t, { url })], 3)
})

t.test('a store from before sessions existed', async (t) => {
  const url = await emptyDatabase(server)
  const connection = await Connection.open(parseUrl(url), sessionOf(10_000))
  await migrate(connection, MIGRATIONS.slice(0, 1))
  await connection.run(`INSERT INTO seats (tenant, id, name, spaces, permissions, member_count, created_by, created_at)
      VALUES ('acme', 's1', 'Viewer', '["one"]', '["a:b"]', 1, 'alice', 1000);
    INSERT INTO api_keys VALUES ('acme', 'k1', 'ci', '\\x01', 'alice', 1000, NULL, NULL);
    INSERT INTO api_key_seats VALUES ('acme', 'k1', 0, 's1');
    INSERT INTO members VALUES ('acme', '\\x02', 's1');
    INSERT INTO changes (seq, mark, tenant, kind, key) VALUES (1, 7, 'acme', 'seat', 's1');
    UPDATE counter SET seq = 1, mark = 7`)
  await connection.close()

  await sessionsOfNone(t, await open(t, { url }))
})

t.test('a store with sessions from before they remembered the session at the provider', async (t) => {
  const url = await emptyDatabase(server)
  const connection = await Connection.open(parseUrl(url), sessionOf(10_000))
  await migrate(
    connection,
    MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex((step) => step.includes('provider_logouts')),
    ),
  )
  await connection.run(`INSERT INTO sessions (tenant, id, cookie_hash, sub, hash_perm, issued_at, renew_at, expires_at, sealed)
    VALUES ('acme', 'AAAAAAAAAAAAAAAAAAAAAA', '\\x01', '"alice"', '[]', 1, 2, ${NOW + 1}, 'sealed')`)
  await connection.close()
  await sessionsFromBefore(t, await open(t, { url }))
})
