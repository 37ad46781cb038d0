/** The servers that other tests rest on: what they promise is tried here, each on the real thing. Redis first. */

import t from 'tap'
import { pgClient, redisClient } from './clients.ts'
import { startPostgres } from './postgres.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { CERTIFICATES } from './tls.ts'
import { until } from '../until.ts'

const keep = (server: RedisServer) => server.command('SET', 'kept', 'yes')
const kept = (server: RedisServer) => server.command('GET', 'kept')

t.test('Redis: empty, answers, keeps nothing on disk', async (t) => {
  const server = await startRedis(t)
  t.equal(await redisClient(t, server.url).ping(), 'PONG')
  t.equal(await server.command('DBSIZE'), 0)
  t.same(await server.command('CONFIG', 'GET', 'save'), ['save', ''])
  t.same(await server.command('CONFIG', 'GET', 'bind'), ['bind', '127.0.0.1'])
  t.match(await server.info(), { process_id: String(server.pid), tcp_port: String(server.port) })
})

t.test('Redis: restarts on its port, with what it held or empty', async (t) => {
  const server = await startRedis(t)
  const { port, pid } = server
  await keep(server)
  const client = redisClient(t, server.url)
  await client.ping()
  const closed = new Promise((resolve) => client.once('close', resolve))
  await server.restart()
  await closed
  t.equal(await kept(server), 'yes')
  t.equal(server.port, port)
  t.not(server.pid, pid)
  await server.restart({ empty: true })
  t.equal(await kept(server), null)
  await keep(server)
  await server.kill()
  await t.rejects(server.command('PING'), { message: 'Connection is closed.' })
  await server.restart()
  t.equal(await kept(server), null, 'a crash loses all, also what an earlier restart had saved')
})

t.test('Redis: frozen it answers nobody, thawed it goes on', async (t) => {
  const server = await startRedis(t)
  const client = redisClient(t, server.url, { commandTimeout: 1500 })
  // On a slow machine, one that answers may be late too.
  const get = () => until(() => client.get('a').catch(() => null), 'a reply')
  await server.command('SET', 'a', 'b')
  t.equal(await get(), 'b')
  await server.freeze()
  await t.rejects(client.get('a'), { message: 'Command timed out' })
  t.equal(client.status, 'ready', 'the connection stays')
  server.thaw()
  t.equal(await get(), 'b')
  await server.freeze()
  await server.stop()
  t.notOk(server.running, 'stops also when it is frozen')
})

t.test('Redis: passwords and users', async (t) => {
  const locked = await startRedis(t, { password: 'secret' })
  t.equal(await redisClient(t, locked.url).ping(), 'PONG')
  await t.rejects(redisClient(t, `redis://127.0.0.1:${locked.port}`).ping(), /NOAUTH/)
  const user = { name: 'gate', password: 'secret', rules: '~gate:* +get +set +ping' }
  const narrow = await startRedis(t, { user })
  const client = redisClient(t, narrow.url, { enableReadyCheck: false })
  t.equal(await client.set('gate:a', 'b'), 'OK')
  await t.rejects(client.set('other', 'b'), /NOPERM/)
  await t.rejects(redisClient(t, `redis://127.0.0.1:${narrow.port}`).ping(), /NOAUTH/)
  t.equal(await narrow.command('GET', 'gate:a'), 'b')
})

t.test('Redis: a replica has what its master has', async (t) => {
  const master = await startRedis(t, { password: 'secret', tls: 'server' })
  const replica = await startRedis(t, { replicaOf: master, tls: 'server' })
  await until(
    async () => (await replica.info('replication'))['master_link_status'] === 'up',
    () => replica.log,
  )
  const client = redisClient(t, master.url, { tls: CERTIFICATES.client })
  await client.set('kept', 'yes')
  t.equal(await client.wait(1, 0), 1)
  t.equal(await kept(replica), 'yes')
})

t.test('PostgreSQL: a database of its own, in UTF-8, durable', async (t) => {
  const server = await startPostgres(t, { settings: ['max_connections = 7'] })
  const client = pgClient(t, await server.createDatabase('a "b" ü'))
  await client.connect()
  const { rows } = await client.query(
    `SELECT current_database() AS name, current_setting('server_encoding') AS encoding,
       current_setting('fsync') AS fsync, current_setting('max_connections') AS most`,
  )
  t.same(rows, [{ name: 'a "b" ü', encoding: 'UTF8', fsync: 'on', most: '7' }])
  await t.rejects(pgClient(t, server.url.replace(/:[^:@]*@/, ':wrong@')).connect(), { code: '28P01' })
  const quick = await startPostgres(t, { fsync: false })
  t.same(await quick.query('SHOW fsync'), [{ fsync: 'off' }])
})

t.test('PostgreSQL: killed with all its children, it comes back with what was committed', async (t) => {
  const server = await startPostgres(t)
  await server.query('CREATE TABLE things AS SELECT 1 AS id')
  const open = pgClient(t, server.url)
  await open.connect()
  await open.query('BEGIN; INSERT INTO things VALUES (2)')
  const rows = await server.query('SELECT pid FROM pg_stat_activity')
  const pids = rows.map(({ pid }) => Number(pid))
  t.ok(pids.length > 2)
  await server.kill()
  await until(
    () => pids.every((pid) => !isAlive(pid)),
    () => 'a child lives',
  )
  await t.rejects(server.query('SELECT 1'), { code: 'ECONNREFUSED' })
  await server.restart()
  t.same(await server.query('SELECT id FROM things'), [{ id: 1 }])
  t.match(server.log, 'was not properly shut down')
})

t.test('PostgreSQL: frozen it answers nobody, thawed it goes on', async (t) => {
  const server = await startPostgres(t)
  const client = pgClient(t, server.url)
  const impatient = pgClient(t, server.url, { connectionTimeoutMillis: 500 })
  await client.connect()
  const pid = (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
  await server.freeze()
  let answered = false
  const answer = client.query('SELECT 1 AS one').finally(() => (answered = true))
  await t.rejects(impatient.connect(), /timeout/)
  t.notOk(answered, 'not even by a child that was there before')
  server.thaw()
  t.same((await answer).rows, [{ one: 1 }])
  t.same((await client.query('SELECT pg_backend_pid() AS pid')).rows, [{ pid }])
})

t.test('PostgreSQL: stops as it is told, and restarts on its port', async (t) => {
  const server = await startPostgres(t)
  const { port } = server
  const client = pgClient(t, server.url)
  await client.connect()
  const ended = new Promise((resolve) => client.once('end', resolve))
  await server.stop('fast')
  await ended
  t.match(server.log, 'received fast shutdown request')
  await server.restart()
  t.equal(server.port, port)
  await server.freeze()
  await server.stop('immediate')
  t.match(server.log, 'received immediate shutdown request', 'also when it is frozen')
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

t.test('a standby has every commit, also one that follows through older timelines', async (t) => {
  const first = await startPostgres(t, { fsync: false, settings: ['wal_keep_size = 512MB'] })
  await first.query('CREATE TABLE kept (number int)')
  const second = await first.startStandby(t)
  await first.kill()
  await second.promote()
  // Much log, after which the third begins with the first one's.
  await second.query(`CREATE TABLE much AS SELECT repeat('x', 400) AS text FROM generate_series(1, 100000)`)
  await second.query('INSERT INTO kept VALUES (1)')
  const third = await second.startStandby(t)
  await second.kill()
  await third.promote()
  t.same(await third.query('SELECT number FROM kept'), [{ number: 1 }])
})
