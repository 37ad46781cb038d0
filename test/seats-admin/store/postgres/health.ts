/** The health of a PostgreSQL store after a right is revoked, and after writes are refused. */

import type { Test } from 'tap'
import type { PostgresServer } from '../../../support/servers/postgres.ts'
import { until } from '../../../support/until.ts'
import { ADMIN, seat, writer } from '../conformance.ts'
import { connected, databaseOf, emptyDatabase, open } from './support.ts'

export function health(t: Test, server: PostgresServer): void {
  t.test('a right is revoked and granted again', async (t) => {
    const url = await emptyDatabase(server)
    const administrator = await connected(t, url)
    await (await open(t, { url })).close()
    await administrator.query(`DROP ROLE IF EXISTS gate; CREATE ROLE gate LOGIN PASSWORD 'gate';
    GRANT USAGE ON SCHEMA seatgate TO gate;
    GRANT ALL ON ALL TABLES IN SCHEMA seatgate TO gate`)
    const own = new URL(url)
    own.username = 'gate'
    own.password = 'gate'
    const store = await open(t, { url: own.href })
    const { id } = await seat(store, 'A')
    const { health } = store
    const shown = () => JSON.stringify(health.state)

    await administrator.query('REVOKE SELECT ON seatgate.seats FROM gate')
    await t.rejects(store.seatById('acme', id))
    await until(() => health.state.reads === 'denied', shown)
    t.equal(health.state.lists, null, 'no listing yet')
    await t.rejects(store.readSeat('acme', id, ADMIN))
    await until(() => health.state.lists === 'denied', shown)
    await t.rejects(seat(store, 'B'))
    t.equal(health.state.writes, 'denied')

    await administrator.query('GRANT SELECT ON seatgate.seats TO gate')
    await until(() => health.state.reads === null && health.state.lists === null, shown)
    t.equal(health.state.writes, 'denied', 'until a write succeeds')
    await seat(store, 'C')
    t.same(health.state, { reads: null, lists: null, writes: null })
  })

  t.test('a full disk: writes that store nothing succeed, and end no fault', async (t) => {
    const url = await emptyDatabase(server)
    const store = await open(t, { url })
    await seat(store, 'A')
    const administrator = await connected(t, url)
    await administrator.query(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql
      AS $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END$$;
      CREATE TRIGGER full_disk BEFORE INSERT ON seatgate.seats EXECUTE FUNCTION full_disk()`)
    await t.rejects(seat(store, 'B'))
    t.equal(store.health.state.writes, 'disk_full')
    t.match(await store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] }), {
      refused: 'seat_name_taken',
    })
    t.equal(await store.sessions.prune(0, 10), 0)
    const user = { sub: 'alice', email: null, name: null, at: 1 }
    await store.recordSignIn('acme', user, [])
    t.equal(store.health.state.writes, 'disk_full')
    await administrator.query('DROP TRIGGER full_disk ON seatgate.seats')
    await seat(store, 'B')
    t.equal(store.health.state.writes, null)
  })

  t.test('writes are refused, reads continue; a value that no text can hold does not count', async (t) => {
    const url = await emptyDatabase(server)
    const store = await open(t, { url, pool: 1 })
    const { id } = await seat(store, 'A')
    const administrator = await connected(t, url)
    await administrator.query(`ALTER DATABASE "${databaseOf(url)}" SET default_transaction_read_only = on`)
    const readOnly = await open(t, { url }).catch(() => null)
    if (readOnly !== null) {
      await t.rejects(seat(readOnly, 'B'))
      t.equal(readOnly.health.state.writes, 'read_only')
      t.equal((await readOnly.seatById('acme', id)).value?.name, 'A')
    }
    for (const name of ['\0', '\ud800', 'x'.repeat(100_000)])
      await store.seatByName('acme', name).catch(() => {})
    await store.seatById('\0', '\0').catch(() => {})
    // On the only connection for reads, after a retry of those calls if there is one.
    for (let round = 0; round < 2; round++) t.equal((await store.seatById('acme', id)).value?.name, 'A')
    t.equal(store.health.state.reads, null)
  })
}
