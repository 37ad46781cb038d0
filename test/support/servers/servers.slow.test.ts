/**
 * Servers that are killed or frozen: if they were not, tests of what then happens would pass without reason.
 */

import t from 'tap'
import { pgClient, redisClient } from './clients.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { until } from '../until.ts'

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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
