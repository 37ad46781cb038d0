/** The unique keys that a schema has to have: those that the statements with ON CONFLICT take, in whatever form. */

import t, { type Test } from 'tap'
import { Connection } from '../../../../seats-admin/store/postgres/postgres-connection.ts'
import { sessionOf } from '../../../../seats-admin/store/postgres/connection-pools.ts'
import { migrate } from '../../../../seats-admin/store/postgres/postgres-migrations.ts'
import { openPostgresStore } from '../../../../seats-admin/store/postgres/postgres-store.ts'
import { parseUrl } from '../../../../seats-admin/store/postgres/url.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { auditFaults } from '../audit-chain.ts'
import { seat } from '../conformance.ts'
import { emptyDatabase } from './support.ts'

const server = await startPostgres(t, { fsync: false })

async function connect(t: Test, url: string): Promise<Connection> {
  const connection = await Connection.open(parseUrl(url), sessionOf(60_000))
  t.teardown(() => connection.close())
  return connection
}

const KEY = 'ALTER TABLE seatgate.users DROP CONSTRAINT users_pkey CASCADE'
const INSTEAD = {
  'a partial one': 'CREATE UNIQUE INDEX ON seatgate.users (tenant, sub) WHERE email IS NOT NULL',
  'one of an expression': 'CREATE UNIQUE INDEX ON seatgate.users (tenant, sub, lower(email))',
  'a deferrable one': 'ALTER TABLE seatgate.users ADD UNIQUE (tenant, sub) DEFERRABLE',
  'one with another column': 'CREATE UNIQUE INDEX ON seatgate.users (tenant, sub, email)',
}

t.test('a unique index in place of a key: one that ON CONFLICT takes', async (t) => {
  const url = await emptyDatabase(server)
  await (await openPostgresStore({ url })).close()
  const connection = await connect(t, url)
  const error = { code: 'DAMAGED', message: 'it lacks the key users (tenant, sub)' }
  for (const [name, index] of Object.entries(INSTEAD)) {
    await connection.run(`${KEY}; ${index}`)
    await t.rejects(openPostgresStore({ url }), error, name)
    await connection.run('DROP SCHEMA seatgate CASCADE')
    await migrate(connection)
  }
  await connection.run(`${KEY}; CREATE UNIQUE INDEX ON seatgate.users (sub, tenant) INCLUDE (name)`)
  const store = await openPostgresStore({ url })
  await store.recordSignIn('acme', { sub: 'alice', email: null, name: null, at: 1 }, [])
  await store.close()
})

/** @param key of the partitioned table */
const partitioned = (table: string, by: string, key: string, partition: string) =>
  `ALTER TABLE seatgate.${table} RENAME TO before;
   CREATE TABLE seatgate.${table} (LIKE seatgate.before INCLUDING DEFAULTS, PRIMARY KEY (${key})) PARTITION BY ${by};
   CREATE TABLE seatgate.part PARTITION OF seatgate.${table} ${partition};
   DROP TABLE seatgate.before; ALTER TABLE seatgate.part RENAME TO ${table}_part`

t.test('partitioned tables', async (t) => {
  const url = await emptyDatabase(server)
  await (await openPostgresStore({ url })).close()
  const connection = await connect(t, url)
  await connection.run(partitioned('audit', 'RANGE (at)', 'tenant, id, at', 'DEFAULT'))
  const byHash = 'FOR VALUES WITH (MODULUS 1, REMAINDER 0)'
  await connection.run(partitioned('sessions', 'HASH (tenant, id)', 'tenant, id', byHash))
  const store = await openPostgresStore({ url })
  await seat(store, 'A')
  t.same(await auditFaults(store, ['made A']), [])
  await store.close()

  // Each sign-in would fail: ON CONFLICT needs the key.
  await connection.run('ALTER TABLE seatgate.sessions_part RENAME TO sessions_part_by_hash')
  await connection.run(partitioned('sessions', 'RANGE (expires_at)', 'tenant, id, expires_at', 'DEFAULT'))
  const error = { code: 'DAMAGED', message: 'it lacks the key sessions (tenant, id)' }
  await t.rejects(openPostgresStore({ url }), error)
})
