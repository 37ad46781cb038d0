/**
 * Writes that may take longer than others. Beside a file of Seats, those of all instances wait for it, and none is
 * refused.
 */

import t from 'tap'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { ADMIN, done, seat, writer } from '../conformance.ts'
import { inputOf, many } from '../revocation-conformance.ts'
import { wanted } from '../seats-file-conformance.ts'
import { connected, databaseOf, emptyDatabase, open } from './support.ts'

/** The insertion of the Seat `large` takes until there is a row. */
const LARGE = `CREATE TABLE go (now integer);
  CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
    AS $$BEGIN WHILE NOT EXISTS (SELECT 1 FROM go) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NEW; END$$;
  CREATE TRIGGER wait BEFORE INSERT ON seats FOR EACH ROW WHEN (NEW.name = 'large') EXECUTE FUNCTION wait()`
const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`
const AT_WORK = `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'`

t.test('a file of Seats', async (t) => {
  const server = await startPostgres(t, { fsync: false })
  const url = await emptyDatabase(server)
  const stores = [await open(t, { url, timeout: 3000 }), await open(t, { url, timeout: 3000 })] as const
  const [own, other] = stores
  for (const store of stores) await seat(store, `before ${stores.indexOf(store)}`)
  const { id } = await seat(own, 'given up')
  const administrator = await connected(t, url)
  await administrator.query(LARGE)
  const pids = async (query: string) => (await administrator.query(query, [databaseOf(url)])).rows

  const applied = own.applySeats(writer(), wanted({ large: [[], []] }), null)
  await until(async () => (await pids(AT_WORK)).length > 0, 'the file')
  // The clock of the writer is ahead of the store's: the mark of the name depends on the wait.
  const now = Date.now() + 3_600_000
  const startedAt = Date.now()
  const deleted = other.deleteSeat(writer(ADMIN, now), id)
  const written = Promise.allSettled([own, other, other].map((store, at) => seat(store, `B${at}`)))
  // The server ends the connection of an attempt that has waited too long.
  const first = await until(async () => (await pids(WAITING))[0]?.pid, 'an attempt')
  await until(async () => (await pids(WAITING)).some(({ pid }) => pid !== first), 'another attempt')
  const waited = Date.now() - startedAt
  await administrator.query('INSERT INTO go VALUES (1)')
  done(await applied)
  done(await deleted)
  for (const each of await written) t.equal(each.status, 'fulfilled', { each })

  const { rows } = await administrator.query(`SELECT at FROM names_given_up WHERE name = 'given up'`)
  const mark = Number(rows[0]?.at)
  t.ok(mark >= Math.floor((now + waited) / 1000), 'the Seat existed until the last attempt', {
    mark,
    now,
    waited,
  })
})

t.test('a revocation of a user or a tenant with many sessions', async (t) => {
  const server = await startPostgres(t, { fsync: false })
  const url = await emptyDatabase(server)
  const timeout = 1500
  const [store, patient] = [await open(t, { url, timeout }), await open(t, { url })]
  for (const user of ['eve', 'ann']) await many(patient, 751, user)
  const administrator = await connected(t, url)
  await administrator.query(
    `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql
       AS $$BEGIN PERFORM pg_sleep(${(0.4 * timeout) / 1000}); RETURN NULL; END$$;
     CREATE TRIGGER wait AFTER UPDATE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION wait()`,
  )
  for (const subject of [{ user: 'eve' }, { tenant: true }] as const)
    t.match(done(await store.revoke(writer(), inputOf(subject))).value, { ended: { sessions: 751 } })
})
