/**
 * A PgBouncer whose clients share sessions: start and the commands that open the store end with 1, `check --online` has a fault,
 * and other programs of the pool find their sessions as they were.
 */

import t from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { findProgram } from '../support/servers/binaries.ts'
import { PgBouncer, type PgBouncerOptions } from '../support/servers/pgbouncer.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { until } from '../support/until.ts'
import { folderWith, ROUTES, SECRET } from './command-line.ts'
import { seatgateHere } from './in-process.ts'
import { configuration, online } from './online.ts'

const SETTINGS = `SELECT name, setting FROM pg_settings WHERE source = 'session' AND name NOT IN ('application_name', 'client_encoding')`

const missing = await findProgram('pgbouncer').then(
  () => false as const,
  (cause: Error) => cause.message,
)

const shared: (PgBouncerOptions & { title: string })[] = [
  { title: 'transaction mode', mode: 'transaction' },
  { title: 'transaction mode, one session for all', mode: 'transaction', size: 1 },
  {
    title: 'transaction mode, each session in turn',
    mode: 'transaction',
    settings: ['server_round_robin = 1', 'min_pool_size = 3'],
  },
  { title: 'statement mode', mode: 'statement' },
]

for (const { title, ...options } of shared)
  t.test(title, { skip: missing }, async (t) => {
    const postgres = await startPostgres(t)
    await postgres.createDatabase('gate')
    const pooler = await PgBouncer.start(t, postgres, options)
    const url = pooler.urlOf('gate')
    // The sessions that are held back for later.
    for (let at = 0; at < 3; at++) await pooler.query('SELECT 1', 'gate')
    const expected = new RegExp(
      `PostgreSQL at 127\\.0\\.0\\.1:${pooler.port} is a connection pooler in transaction or statement mode, whose clients share sessions\\. Name PostgreSQL itself in \\S+, or set pool_mode = session`,
    )

    const found = await online(t, { store: url })
    t.equal(found.code, 1)
    t.match(found.found[0], /^fault store_unavailable store: /)
    t.match(found.found[0], expected)
    const folder = folderWith(t, {
      'gateway.config.yaml': configuration({ store: url }),
      'routes.yaml': ROUTES,
    })
    const env = { STORE: url, ACME_SECRET: SECRET }
    for (const words of ['start', 'bootstrap --tenant acme', 'audit verify', 'fleet', 'lint']) {
      const { code, out, err } = await seatgateHere(folder, words.split(' '), env)
      t.equal(code, 1, words)
      t.match(out + err, expected, words)
    }

    await until(async () => (await sessions(postgres)).length > 0, 'a session of the pool')
    for (let at = 0; at < 12; at++)
      t.same(await pooler.query(SETTINGS, 'gate'), [], 'the session is as it was')
    t.same(await postgres.query(`SELECT 1 FROM pg_namespace WHERE nspname = 'seatgate'`, [], 'gate'), [])
  })

/** Sessions of the database that are open in PostgreSQL. */
function sessions(postgres: { query: (text: string) => Promise<Record<string, unknown>[]> }) {
  return postgres.query(`SELECT pid FROM pg_stat_activity WHERE datname = 'gate'`)
}

t.test('session mode: the store works', { skip: missing }, async (t) => {
  const postgres = await startPostgres(t)
  await postgres.createDatabase('gate')
  const pooler = await PgBouncer.start(t, postgres, { mode: 'session' })
  const url = pooler.urlOf('gate')
  t.match(await online(t, { store: url }), { code: 0, found: [/^warning store_missing/] })
  const store = await openStore({ kind: 'postgres', url })
  await store.close()
  t.match(await online(t, { store: url }), { code: 0, found: [/^ok - store: PostgreSQL/] })
  t.same(await pooler.query(SETTINGS, 'gate'), [])
})

t.test(
  'session mode without a second session: said, within the time of a response',
  { skip: missing },
  async (t) => {
    const postgres = await startPostgres(t)
    await postgres.createDatabase('gate')
    const pooler = await PgBouncer.start(t, postgres, { mode: 'session', size: 1 })
    const found = await online(t, { store: pooler.urlOf('gate') })
    t.match(found, {
      code: 1,
      found: [/^fault store_unavailable store: PostgreSQL at \S+ has not responded in time/],
    })
  },
)
