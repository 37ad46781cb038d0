/** A schema that lacks a table, a column or a unique key of its version is refused before anything is written to it. */

import t, { type Test } from 'tap'
import { inspectStore } from '../../../../seats-admin/index.ts'
import { Connection } from '../../../../seats-admin/store/postgres/postgres-connection.ts'
import { sessionOf } from '../../../../seats-admin/store/postgres/connection-pools.ts'
import { MIGRATIONS, migrate } from '../../../../seats-admin/store/postgres/postgres-migrations.ts'
import { partsMadeBy } from '../../../../seats-admin/store/postgres/postgres-schema.ts'
import { openPostgresStore } from '../../../../seats-admin/store/postgres/postgres-store.ts'
import { parseUrl } from '../../../../seats-admin/store/postgres/url.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { databaseOf, emptyDatabase } from './support.ts'

const server = await startPostgres(t, { fsync: false })

async function connect(t: Test, url: string): Promise<Connection> {
  const connection = await Connection.open(parseUrl(url), sessionOf(60_000))
  t.teardown(() => connection.close())
  return connection
}

/** By PostgreSQL's own views; the store reads the catalogs. */
const PARTS = `SELECT 'table ' || table_name AS part FROM information_schema.tables WHERE table_schema = 'seatgate'
  UNION ALL SELECT 'column ' || table_name || '.' || column_name FROM information_schema.columns
    WHERE table_schema = 'seatgate'
  UNION ALL SELECT 'key ' || u.table_name || ' (' || string_agg(u.column_name, ', ' ORDER BY u.ordinal_position) || ')'
    FROM information_schema.key_column_usage u JOIN information_schema.table_constraints c USING (constraint_schema, constraint_name)
    WHERE u.table_schema = 'seatgate' AND c.constraint_type IN ('PRIMARY KEY', 'UNIQUE')
    GROUP BY u.table_name, u.constraint_name`

const CONSTRAINT = `SELECT conname AS name FROM pg_constraint WHERE contype IN ('p', 'u')
  AND conrelid = CAST($1 AS regclass) AND pg_get_constraintdef(oid) LIKE '%' || $2`

t.test('the parts of each version are those that its migrations make', async (t) => {
  const url = await emptyDatabase(server)
  const connection = await connect(t, url)
  for (const [step] of MIGRATIONS.entries()) {
    const steps = MIGRATIONS.slice(0, step + 1)
    await migrate(connection, steps)
    const rows = await server.query(PARTS, [], databaseOf(url))
    const found = rows.map(({ part }) => String(part)).filter((part) => !part.includes('schema_version'))
    t.same(partsMadeBy(steps).toSorted(), found.toSorted(), `version ${step + 1}`)
  }
})

/** @returns a statement that takes the part away */
async function damageOf(part: string, database: string): Promise<string> {
  const [kind, name = '', ...rest] = part.split(' ')
  if (kind === 'table') return `DROP TABLE seatgate.${name} CASCADE`
  if (kind === 'column') return `ALTER TABLE seatgate.${name.replace('.', ' RENAME COLUMN ')} TO gone`
  const [found] = await server.query(CONSTRAINT, [`seatgate.${name}`, rest.join(' ')], database)
  return `ALTER TABLE seatgate.${name} DROP CONSTRAINT ${String(found?.name)} CASCADE`
}

t.test('each part', async (t) => {
  const url = await emptyDatabase(server)
  await (await openPostgresStore({ url })).close()
  const database = databaseOf(url)
  const state = () => server.query(`${PARTS} ORDER BY part`, [], database)
  const connection = await connect(t, url)
  for (const part of [...partsMadeBy(MIGRATIONS), 'table schema_version']) {
    await server.query(await damageOf(part, database), [], database)
    const before = await state()
    const error = { code: 'DAMAGED', message: `it lacks the ${part}` }
    await t.rejects(inspectStore({ kind: 'postgres', url }, 60_000), error, part)
    await t.rejects(openPostgresStore({ url }), error, part)
    t.same(await state(), before, `${part}: nothing was made`)
    await connection.run('DROP SCHEMA seatgate CASCADE')
    await migrate(connection)
  }
})

t.test('a database that accepts reads only, without and with a store', async (t) => {
  const url = await emptyDatabase(server)
  const database = databaseOf(url)
  await server.query(`ALTER DATABASE "${database}" SET default_transaction_read_only = on`)
  const error = { code: '25006' }
  await t.rejects(inspectStore({ kind: 'postgres', url }, 60_000), error)
  await t.rejects(openPostgresStore({ url }), error)
  await server.query(`ALTER DATABASE "${database}" RESET default_transaction_read_only`)
  await (await openPostgresStore({ url })).close()
  await server.query(`ALTER DATABASE "${database}" SET default_transaction_read_only = on`)
  await t.rejects(inspectStore({ kind: 'postgres', url }, 60_000), error)
})
