/** Opening: an empty database becomes a store once, and any other is refused with a reason without secrets. */

import type { BlockOrigin } from '../../../../seats-admin/model/block.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { type PostgresOptions, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { openPostgresStore } from '../../../../seats-admin/store/postgres/postgres-store.ts'
import { Connection } from '../../../../seats-admin/store/postgres/postgres-connection.ts'
import { sessionOf } from '../../../../seats-admin/store/postgres/connection-pools.ts'
import { MIGRATIONS, migrate } from '../../../../seats-admin/store/postgres/postgres-migrations.ts'
import { parseUrl } from '../../../../seats-admin/store/postgres/url.ts'
import { reservePort } from '../../../support/servers/ports.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { ADMIN, done, seat, writer } from '../conformance.ts'
import { databaseOf, emptyDatabase, open } from './support.ts'
import { rowsOf, storeBefore, upgraded } from '../revocation-upgrade.ts'
import { refusedBesideOlder, rowsBeforeScim, upgradedToScim } from '../scim-upgrade.ts'
import { seatBeforeTables, tablesBesideOlder, upgradedToTables } from '../tables-upgrade.ts'
import { allUsers } from '../user-conformance.ts'

const server = await startPostgres(t, { fsync: false })
const page = { limit: 100, after: null, scope: ADMIN }

/** The message of the refusal; fails without a refusal, or if the message contains a secret. */
async function refusalOf(t: Test, url: string): Promise<string> {
  const cause = await openPostgresStore({ url, timeout: 60_000 }).then(
    (store) => store.close().then(() => new Error('it was opened')),
    (error: unknown) => error,
  )
  if (!(cause instanceof StoreUnavailable)) throw cause
  const { password } = new URL(url)
  t.notOk(
    `${cause.stack} ${JSON.stringify(cause)} ${String(cause.cause)}`.includes(password),
    'no secret in the message',
  )
  return cause.message
}

function changed(url: string, change: (parts: URL) => void): string {
  const parts = new URL(url)
  change(parts)
  return parts.href
}

async function connect(t: Test, url: string): Promise<Connection> {
  const connection = await Connection.open(parseUrl(url), sessionOf(10_000))
  t.teardown(() => connection.close())
  return connection
}

/** Processes that wait before they open the store; each then creates a Seat. */
function startOpening(options: PostgresOptions, count: number) {
  const script = fileURLToPath(new URL('../open-process.ts', import.meta.url))
  const place = JSON.stringify({ kind: 'postgres', ...options })
  return Array.from({ length: count }, (_, at) =>
    spawn(process.execPath, [script, place, `by ${at}`], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
}

/** Lets them open it at once, and checks that each succeeds. */
async function opening(t: Test, children: ReturnType<typeof startOpening>): Promise<void> {
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const exits = children.map((child) => once(child, 'exit'))
  for (const child of children) child.stdin.write('go\n')
  for (const [code] of await Promise.all(exits)) t.equal(code, 0)
}

t.test('ten stores opened at once on an empty database', async (t) => {
  const url = await emptyDatabase(server)
  const stores = await Promise.all(Array.from({ length: 10 }, () => open(t, { url, pool: 1 })))
  await Promise.all(
    stores.map(async (store, at) =>
      done(await store.createSeat(writer(), { name: `by ${at}`, spaces: [], permissions: [] })),
    ),
  )
  t.equal((await stores[0]?.listSeats('acme', page))?.data.length, 10, 'all write to the same store')
  t.equal((await stores[9]?.changesSince(null))?.head.seq, 20)
})

t.test('three processes that open at once', async (t) => {
  const url = await emptyDatabase(server)
  await opening(t, startOpening({ url, timeout: 60_000 }, 3))
  const store = await open(t, { url })
  const names = (await store.listSeats('acme', page)).data.map((each) => each.name)
  t.same(names.toSorted(), ['by 0', 'by 1', 'by 2'])
})

t.test('connections that apply the same migration at once apply it once', async (t) => {
  const url = await emptyDatabase(server)
  await (await open(t, { url })).close()
  const steps = [...MIGRATIONS, 'CREATE TABLE later (x integer); INSERT INTO later VALUES (1)']
  const connections = await Promise.all(Array.from({ length: 6 }, () => connect(t, url)))
  await Promise.all(connections.map((connection) => migrate(connection, steps)))
  t.match(await server.query('SELECT x FROM seatgate.later', [], databaseOf(url)), [{ x: 1 }])
  const why = `has version ${steps.length}, from a newer Seatgate; this one supports up to ${MIGRATIONS.length}`
  t.match(await refusalOf(t, url), why)
})

t.test('a store from before users were listed, with an instance of that version', async (t) => {
  const url = await emptyDatabase(server)
  const connection = await connect(t, url)
  await migrate(connection, MIGRATIONS.slice(0, 3))
  const query = (text: string) => server.query(`SET search_path = seatgate; ${text}`, [], databaseOf(url))
  const member = (sub: string) =>
    `INSERT INTO members VALUES ('acme', sha256('${sub}'), 'a');
     UPDATE seats SET member_count = member_count + 1 WHERE id = 'a'`
  await query(`INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at)
    VALUES ('acme', 'a', 'A', '["one"]', '["x:y"]', 'alice', 1); ${member('ann')}`)
  const store = await open(t, { url })
  await query(member('ben'))
  t.same(await allUsers(store), [], 'the former version kept only digests')
  const ann = { sub: 'ann', email: 'ann@example.org', name: null, at: 7 }
  await store.recordSignIn('acme', ann, ['a'])
  await store.recordSignIn('acme', { ...ann, sub: 'ben' }, [])
  t.match(await allUsers(store), [
    { sub: 'ann', email: 'ann@example.org', lastSignIn: 7, seats: ['A'] },
    { sub: 'ben', seats: [] },
  ])
  t.match((await store.listSeats('acme', page)).data, [{ memberCount: 1 }], 'none is counted twice')
})

t.test(
  'a store from before the use of API keys was recorded, with an instance of that version',
  async (t) => {
    const url = await emptyDatabase(server)
    await migrate(await connect(t, url), MIGRATIONS.slice(0, 4))
    const insert = (id: string) =>
      server.query(
        `INSERT INTO seatgate.api_keys (tenant, id, name, hash, created_by, created_at, expires_at)
       VALUES ('acme', '${id}', 'ci', '', 'alice', 1, NULL)`,
        [],
        databaseOf(url),
      )
    await insert('j')
    const store = await open(t, { url })
    await insert('k')
    await store.recordKeyUse([{ tenant: 'acme', id: 'k', at: 5 }])
    const keys = (await store.listApiKeys('acme', page)).data
    t.match(keys, [
      { id: 'j', lastUsedAt: null },
      { id: 'k', lastUsedAt: 5 },
    ])
  },
)

t.test('a store from before revocations, with an instance of that version', async (t) => {
  const url = await emptyDatabase(server)
  const step = MIGRATIONS.findIndex((each) => each.includes('CREATE TABLE cutoffs'))
  const older = await connect(t, url)
  await migrate(older, MIGRATIONS.slice(0, step))
  const bytes = (hex: string) => `'\\x${hex}'`
  await older.run(storeBefore(bytes))
  const store = await open(t, { url })
  await upgraded(t, store, async () => void (await older.run(rowsOf('C', bytes))))
  await store.registry?.register('new', 'new')
  await older.run(
    `INSERT INTO instances (id, name, beat, applied, config, seen_at) VALUES ('old', 'old', 1, 0, 'c', now())`,
  )
  t.match(await store.registry?.instances(), [
    { id: 'new', understands: ['seat'] },
    { id: 'old', understands: null },
  ])
})

t.test('a store from before the origins of blocks, with an instance of that version', async (t) => {
  const url = await emptyDatabase(server)
  const step = MIGRATIONS.findIndex((each) => each.includes('ADD COLUMN origin'))
  const older = await connect(t, url)
  await migrate(older, MIGRATIONS.slice(0, step))
  await older.run(`INSERT INTO instances (id, name, beat, applied, config, understands, seen_at)
    VALUES ('old', 'gw-old', 1, 0, 'c', '["seat","block","revocation"]', now())`)
  const store = await open(t, { url })
  await store.registry?.register('new', 'new')
  const blocks = async () =>
    (await store.listBlocks('acme', { limit: 9, after: null })).data.map(({ user, origin }) => [user, origin])
  const block = async (user: string, origin: BlockOrigin) =>
    store.createBlock(writer(), { user, until: null, reason: null, origin })
  for (const origin of ['events', 'scim'] as const)
    t.match(await block('eve', origin), {
      refused: 'unavailable',
      detail: /gw-old has an older version, which does not understand the change/,
    })
  done(await block('ann', 'admin'))
  await older.run(
    `INSERT INTO blocks (tenant, id, sub, sub_digest, until, reason, created_by, created_at)
       VALUES ('acme', 'b1', '"bob"', '\\x01', NULL, NULL, 'alice', 1)`,
  )
  t.same(await blocks(), [
    ['ann', 'admin'],
    ['bob', 'admin'],
  ])
  await store.registry?.leave('old')
  done(await block('eve', 'events'))
  t.equal((await blocks()).length, 3)
})

t.test('a store from before SCIM, with an instance of that version', async (t) => {
  const url = await emptyDatabase(server)
  const step = MIGRATIONS.findIndex((each) => each.includes('CREATE TABLE scim_users'))
  const older = await connect(t, url)
  await migrate(older, MIGRATIONS.slice(0, step))
  const bytes = (hex: string) => `'\\x${hex}'`
  await older.run(rowsBeforeScim('A', bytes))
  const store = await open(t, { url })
  await upgradedToScim(t, store, async () => void (await older.run(rowsBeforeScim('B', bytes))))
})

t.test('beside an instance of the version before SCIM', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  await store.registry?.register('new', 'new')
  const older = await connect(t, url)
  await older.run(`INSERT INTO instances (id, name, beat, applied, config, understands, seen_at)
    VALUES ('old', 'gw-old', 1, 0, 'c', '["seat","block","revocation","block-origin"]', now())`)
  await refusedBesideOlder(t, store, async () => void (await store.registry?.leave('old')))
})

t.test('a store from before tables in the store, with an instance of that version', async (t) => {
  const url = await emptyDatabase(server)
  const step = MIGRATIONS.findIndex((each) => each.includes('CREATE TABLE tables_versions'))
  const older = await connect(t, url)
  await migrate(older, MIGRATIONS.slice(0, step))
  await older.run(seatBeforeTables('a', 1, 'true'))
  const store = await open(t, { url })
  await upgradedToTables(t, store, async () => void (await older.run(seatBeforeTables('b', 2, 'true'))))
})

t.test('beside an instance of the version before tables in the store', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const older = await connect(t, url)
  await tablesBesideOlder(t, store, {
    async come() {
      await older.run(`INSERT INTO instances (id, name, beat, applied, started_at, version, process, understands, seen_at)
          VALUES ('old', 'gw-old', 0, 0, 1, '1.0.0', NULL, '["seat","block","revocation","membership","grant"]', now());
        UPDATE instances SET beat = 1, applied = 0, config = 'c', url = NULL, refused = NULL, cuts = NULL,
          seen_at = now() WHERE id = 'old'`)
    },
    async leave() {
      await store.registry?.leave('old')
    },
  })
})

t.test('a store from before grants, with an instance of that version', async (t) => {
  const url = await emptyDatabase(server)
  const step = MIGRATIONS.findIndex((each) => each.includes('CREATE TABLE grants'))
  const older = await connect(t, url)
  await migrate(older, MIGRATIONS.slice(0, step))
  await older.run(`INSERT INTO instances (id, name, beat, applied, config, understands, seen_at)
    VALUES ('old', 'gw-old', 1, 0, 'c', '["seat","block","revocation"]', now())`)
  const store = await open(t, { url })
  await store.registry?.register('new', 'new')
  await seat(store, 'Viewer')
  const until = Date.now() + 3_600_000
  const grant = () =>
    store.createGrant(writer(), { user: 'eve', seat: 'Viewer', from: null, until, reason: null })
  t.match(await grant(), {
    refused: 'unavailable',
    detail: /gw-old has an older version, which knows no grants/,
  })
  await store.registry?.leave('old')
  done(await grant())
})

/** A change of a Seat as versions before the audit wrote it. Each sets the Seat's permissions to its number. */
function oldWrite(number: number): string {
  return `BEGIN; SELECT seq FROM seatgate.counter FOR UPDATE;
    UPDATE seatgate.seats SET permissions = '["v:${number}"]' WHERE id = 'a';
    INSERT INTO seatgate.changes (seq, mark, tenant, kind, key)
      SELECT seq + 1, 7, 'acme', 'seat', 'a' FROM seatgate.counter;
    UPDATE seatgate.counter SET seq = seq + 1, mark = 7; COMMIT`
}

t.test('four processes of this version start while an instance of an older one writes', async (t) => {
  const url = await emptyDatabase(server)
  await migrate(await connect(t, url), MIGRATIONS.slice(0, 3))
  await server.query(
    `INSERT INTO seatgate.seats (tenant, id, name, spaces, permissions, created_by, created_at)
       VALUES ('acme', 'a', 'A', '[]', '[]', 'alice', 1);
     INSERT INTO seatgate.instances VALUES ('old', 'gw-old', 5, 0, now())`,
    [],
    databaseOf(url),
  )
  const old = await connect(t, url)
  const refusals = new Set<string>()
  let [written, refused, opened] = [0, 0, false]
  const writing = (async () => {
    for (let number = 1; !opened || refused === 0; number++)
      try {
        await old.run(oldWrite(number))
        written = number
      } catch (cause) {
        await old.run('ROLLBACK')
        refusals.add(String(cause))
        refused++
      }
  })()
  const children = startOpening({ url, timeout: 60_000 }, 4)
  await opening(t, children)
  opened = true
  await writing
  t.ok(written > 0, `${written} writes of the older instance, then ${refused} refused`)
  t.match([...refusals], [/written_by_a_version_with_an_audit/], 'refused whole, for one reason')
  const store = await open(t, { url })
  t.same(done(await store.readSeat('acme', 'a', ADMIN)).permissions, [`v:${written}`], 'no half of a write')
  const { head } = await store.changesSince(null)
  t.equal(head.seq, written + 2 * children.length, 'a change for each write')
  const block = () => store.createBlock(writer(), { user: 'eve', until: null, reason: null })
  t.match(await block(), { refused: 'unavailable', detail: /gw-old has an older version/ })
  t.match((await store.userRestriction('acme', 'eve')).value, { restriction: null })
  await store.registry?.leave('old')
  done(await block())
})

t.test('a failed migration leaves the store unchanged', async (t) => {
  const url = await emptyDatabase(server)
  await (await open(t, { url })).close()
  const connection = await connect(t, url)
  await t.rejects(
    migrate(connection, [...MIGRATIONS, 'CREATE TABLE later (x integer)', 'nonsense']),
    /syntax error/,
  )
  const found = await server.query(`SELECT to_regclass('seatgate.later') AS later`, [], databaseOf(url))
  t.same(found, [{ later: null }])
  await open(t, { url })
})

t.test('the error for a role without rights names them; with its own schema it needs no more', async (t) => {
  const url = await emptyDatabase(server)
  const database = databaseOf(url)
  await server.query(`CREATE ROLE modest LOGIN PASSWORD 'modest-secret'`)
  const own = changed(url, (parts) => Object.assign(parts, { username: 'modest', password: 'modest-secret' }))
  t.match(await refusalOf(t, own), /permission denied .*CREATE SCHEMA seatgate AUTHORIZATION <role>/)
  await server.query('CREATE SCHEMA seatgate AUTHORIZATION modest', [], database)
  const store = await open(t, { url: own })
  done(await store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] }))
})

t.test('a role with read and write rights only opens an existing store', async (t) => {
  const url = await emptyDatabase(server)
  const database = databaseOf(url)
  await (await open(t, { url })).close()
  await server.query(`CREATE ROLE clerk LOGIN PASSWORD 'clerk-secret'`)
  const own = changed(url, (parts) => Object.assign(parts, { username: 'clerk', password: 'clerk-secret' }))
  t.match(await refusalOf(t, own), /permission denied/)
  await server.query('GRANT USAGE ON SCHEMA seatgate TO clerk', [], database)
  await server.query(
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA seatgate TO clerk',
    [],
    database,
  )
  const store = await open(t, { url: own })
  done(await store.createSeat(writer(), { name: 'A', spaces: [], permissions: [] }))
})

t.test('missing or unreachable servers and databases', async (t) => {
  const url = await emptyDatabase(server)
  const to = (change: (parts: URL) => void) => refusalOf(t, changed(url, change))
  const free = await reservePort(t)
  t.match(await to((parts) => (parts.password = 'wrong-secret')), /password authentication failed/)
  t.match(
    await to((parts) => (parts.username = 'absent')),
    /password authentication failed for user "absent"/,
  )
  t.match(await to((parts) => (parts.pathname = '/absent')), /database "absent" does not exist/)
  t.match(await to((parts) => (parts.port = `${free}`)), new RegExp(`127.0.0.1:${free}/.*ECONNREFUSED`))
  t.match(await to((parts) => (parts.hostname = 'absent.invalid')), /(ENOTFOUND|EAI_AGAIN)/)
  t.match(await to((parts) => parts.searchParams.set('sslmode', 'require')), /does not support SSL/)
  t.match(await refusalOf(t, `${url}?password=secret`), /unknown parameter, "password"/)
})

t.test('a database with an encoding other than UTF-8', async (t) => {
  await server.query(`CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`)
  t.match(
    await refusalOf(t, server.urlOf('latin')),
    /the encoding of the database is LATIN1: it must be UTF8/,
  )
})

// The last one: the server stays a standby.
t.test('a standby, which may lag behind', async (t) => {
  const url = await emptyDatabase(server)
  const store = await open(t, { url })
  const [found] = await server.query('SHOW data_directory')
  writeFileSync(join(String(found?.data_directory), 'standby.signal'), '')
  await server.restart()
  t.match(await refusalOf(t, url), /the server is a standby/)
  await t.rejects(store.seatById('acme', 'x'), /the server is a standby/)
})
