/** `check --online`: the store and Redis. */

import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import t from 'tap'
import { openSqliteStore, openStore } from '../../seats-admin/index.ts'
import { MIGRATIONS } from '../../seats-admin/store/postgres/postgres-migrations.ts'
import { reservePort } from '../support/servers/ports.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startCluster, startSentinel } from '../support/servers/redis-groups.ts'
import { startRedis } from '../support/servers/redis.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { online, PASSWORD } from './online.ts'

const WELL = { code: 0, found: [/^ok - store: /, /^ok - upstreams/] }

t.test('SQLite', async (t) => {
  const missing = await online(t, {})
  t.equal(missing.code, 0)
  t.match(
    missing.found[0],
    'warning store_missing store: there is no store in DIR/seatgate.db yet. The start',
  )
  t.equal((await online(t, { args: ['--strict'] })).code, 3)
  const path = join(missing.folder, 'seatgate.db')
  const store = await openSqliteStore({ path, timeout: 60_000 })
  t.match(await online(t, {}, missing.folder), WELL, 'beside a program that has it open')
  await store.close()
  t.match(await online(t, {}, missing.folder), WELL)
  {
    using database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 3')
  }
  const older = await online(t, {}, missing.folder)
  t.match(older, {
    code: 0,
    found: [/^warning store_older store: the store has version 3, this Seatgate has version \d+\./],
  })
  {
    using database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 99')
  }
  const newer = await online(t, {}, missing.folder)
  t.match(newer, {
    code: 1,
    found: [/^fault store_unavailable store: .* the store has version 99, from a newer Seatgate/],
  })
  const file = await online(t, { store: 'sqlite:./gateway.config.yaml' })
  t.match(file, {
    code: 1,
    found: [
      /^fault store_unavailable store: the file DIR\/gateway.config.yaml is not a Seatgate store, and was left/,
    ],
  })
})

t.test('PostgreSQL', async (t) => {
  const server = await startPostgres(t)
  const at = `PostgreSQL at 127.0.0.1:${server.port}`
  for (const name of ['gate', 'modest'])
    await server.query(`CREATE ROLE ${name} LOGIN PASSWORD '${PASSWORD}'`)
  const url = (database: string, user = 'gate', password = PASSWORD) =>
    `postgres://${user}:${password}@127.0.0.1:${server.port}/${database}`
  await server.query('CREATE DATABASE store OWNER gate')
  const schemas = () => server.query("SELECT 1 FROM pg_namespace WHERE nspname = 'seatgate'", [], 'store')
  const [missing, barred] = await Promise.all([
    online(t, { store: url('store') }),
    online(t, { store: url('store', 'modest') }),
  ])
  t.match(missing, {
    code: 0,
    found: ['warning store_missing store: there is no store in the database yet.'],
  })
  t.match(barred, {
    code: 1,
    found: [`fault store_unavailable store: ${at} does not permit user modest to create or use`],
  })
  t.same(await schemas(), [], 'nothing was created')
  await (await openStore({ kind: 'postgres', url: url('store') })).close()
  t.match(await online(t, { store: url('store') }), {
    code: 0,
    found: [`ok - store: PostgreSQL, version ${MIGRATIONS.length}`],
  })
  await server.query('UPDATE seatgate.schema_version SET version = 1', [], 'store')
  t.match(await online(t, { store: url('store') }), {
    code: 0,
    found: ['warning store_older store: the store has version 1'],
  })
  t.same(await server.query('SELECT version FROM seatgate.schema_version', [], 'store'), [{ version: 1 }])
  await server.query('UPDATE seatgate.schema_version SET version = 99', [], 'store')
  const found = await Promise.all([
    online(t, { store: url('store') }),
    online(t, { store: url('store', 'modest') }),
    online(t, { store: url('absent') }),
    online(t, { store: url('store', 'gate', `${PASSWORD}x`) }),
    online(t, { store: `postgres://gate:${PASSWORD}@127.0.0.1:${await reservePort(t)}/store` }),
  ])
  const expected = [
    /the store has version 99, from a newer Seatgate.* Start the newer Seatgate/,
    `${at} does not permit user modest to create or use the tables`,
    `${at} has no database absent. Create it`,
    `${at} refused the password of user gate. Check the password in \${STORE}.`,
    /PostgreSQL at \S+ refused the connection \(ECONNREFUSED\). Start PostgreSQL, or correct host and port in \$\{STORE\}/,
  ]
  for (const [index, each] of found.entries()) {
    t.equal(each.code, 1)
    t.match(each.found[0], /^fault store_unavailable store: /)
    t.match(each.found[0], expected[index])
  }
  await server.freeze()
  const frozen = await online(t, { store: url('store') })
  server.thaw()
  t.match(frozen, {
    code: 1,
    found: [`fault store_unavailable store: ${at} has not responded in time. Check that`],
  })
})

t.test('Redis', async (t) => {
  const [open, locked, tls, mutual, modest, frozen, full, mute] = await Promise.all([
    startRedis(t),
    startRedis(t, { password: PASSWORD }),
    startRedis(t, { tls: 'server' }),
    startRedis(t, { tls: 'mutual' }),
    startRedis(t, { user: { name: 'gate', password: PASSWORD, rules: '~other:* &* +@all' } }),
    startRedis(t),
    startRedis(t, { config: ['maxmemory 1'] }),
    startRedis(t, { user: { name: 'gate', password: PASSWORD, rules: '~* &other:* +@all' } }),
  ])
  const replica = await startRedis(t, { replicaOf: open })
  await frozen.freeze()
  const down = await reservePort(t)
  const { ca, client, clientKey } = CERTIFICATES.files
  const cases: (readonly [string, RegExp])[] = [
    [open.url, /^ok - redis: single Redis, PING takes [\d.]+ ms$/],
    [locked.url, /^ok - redis: /],
    [`${tls.url}?ca=${ca}`, /^ok - redis: /],
    [`${mutual.url}?ca=${ca}&cert=${client}&key=${clientKey}`, /^ok - redis: /],
    [
      `redis://127.0.0.1:${down}`,
      /refused the connection \(ECONNREFUSED\)\. Start Redis, or correct host and port in \$\{REDIS\}\.$/,
    ],
    [
      `redis://:${PASSWORD}x@127.0.0.1:${locked.port}`,
      /refused the password \(WRONGPASS\)\. Check user and password/,
    ],
    [
      `redis://127.0.0.1:${locked.port}`,
      /requires a password, and none is given \(NOAUTH\)\. Add it in \$\{REDIS\}/,
    ],
    [modest.url, /does not permit this user a command or a key \(NOPERM/],
    [full.url, /the memory of Redis at \S+ is full \(OOM .*, in reply to SET\)\. Raise maxmemory/],
    [mute.url, /does not permit this user a command or a key \(NOPERM .*, in reply to PUBLISH\)\. Permit/],
    [`redis://127.0.0.1:${tls.port}`, /closed the connection without a reply\. Write rediss:\/\/ in place/],
    [tls.url, /is not from an authority that this gateway knows/],
    [
      replica.url,
      /is a replica, which accepts reads only \(READONLY\)\. Name the master in \$\{REDIS\}, or the sentinels/,
    ],
    [frozen.url, /Redis at 127\.0\.0\.1:\d+ has not responded in time\. Check that Redis runs/],
  ]
  const found = await Promise.all(cases.map(([redis]) => online(t, { redis })))
  for (const [index, [url, expected]] of cases.entries()) {
    const isOk = expected.source.startsWith('^ok')
    t.match(found[index]?.found[1], expected, url)
    t.match(found[index]?.found[1], isOk ? /^ok / : /^fault redis_unavailable redis: /)
    t.equal(found[index]?.code, isOk ? 0 : 1)
  }
  frozen.thaw()
})

t.test('Redis by sentinels', async (t) => {
  const master = await startRedis(t)
  const { addresses, name } = await startSentinel(t, master, [])
  const hosts = addresses.map(({ host, port }) => `${host}:${port}`).join(',')
  const down = await reservePort(t)
  const [well, oneDown, unknown, none] = await Promise.all([
    online(t, { redis: `redis+sentinel://${hosts}/${name}` }),
    online(t, { redis: `redis+sentinel://127.0.0.1:${down},${hosts}/${name}` }),
    online(t, { redis: `redis+sentinel://${hosts}/absent` }),
    online(t, { redis: `redis+sentinel://127.0.0.1:${down}/${name}` }),
  ])
  t.match(well, { code: 0, found: [/./, 'ok - redis: sentinel Redis, PING takes'] })
  t.match(oneDown, { code: 0, found: [/./, 'ok - redis: sentinel Redis'] })
  t.match(unknown, { code: 1, found: [/./, /^fault redis_unavailable redis: .*names no master/] })
  t.match(none, { code: 1, found: [/./, /^fault redis_unavailable redis: .*ECONNREFUSED/] })
})

t.test('a Redis cluster', async (t) => {
  const { addresses } = await startCluster(t)
  const hosts = addresses.map(({ host, port }) => `${host}:${port}`).join(',')
  const [well, none] = await Promise.all([
    online(t, { redis: `redis+cluster://${hosts}` }),
    online(t, { redis: `redis+cluster://127.0.0.1:${await reservePort(t)}` }),
  ])
  t.match(well, { code: 0, found: [/./, 'ok - redis: cluster Redis'] })
  t.match(none, { code: 1, found: [/./, /^fault redis_unavailable redis: .*refused the connection/] })
})
