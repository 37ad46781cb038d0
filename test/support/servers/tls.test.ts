/**
 * TLS of the test servers: who has no certificate of the tests' authority is not let in, and neither is plain
 * text.
 */

import { once } from 'node:events'
import t from 'tap'
import { pgClient, redisClient } from './clients.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { CERTIFICATES } from './tls.ts'

t.test('Redis: TLS or nothing', async (t) => {
  const { ca } = CERTIFICATES.client
  const server = await startRedis(t, { tls: 'server' })
  t.equal(await redisClient(t, server.url, { tls: { ca } }).ping(), 'PONG')
  const closed = { message: 'Connection is closed.' }
  const stranger = redisClient(t, server.url)
  const failed = once(stranger, 'error')
  await t.rejects(stranger.ping(), closed, 'by another authority than the system knows')
  t.match(await failed, [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }])
  await t.rejects(redisClient(t, server.url.replace('rediss', 'redis')).ping(), closed, 'without TLS')
  const mutual = await startRedis(t, { tls: 'mutual' })
  t.equal(await redisClient(t, mutual.url, { tls: CERTIFICATES.client }).ping(), 'PONG')
  await t.rejects(redisClient(t, mutual.url, { tls: { ca } }).ping(), closed, 'without a certificate')
})

t.test('PostgreSQL: TLS or nothing', async (t) => {
  const { ca } = CERTIFICATES.client
  const server = await startPostgres(t, { tls: 'server' })
  await t.resolves(pgClient(t, server.url, { ssl: { ca } }).connect())
  await t.rejects(pgClient(t, server.url, { ssl: {} }).connect(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })
  await t.rejects(pgClient(t, server.url).connect(), /no pg_hba.conf entry/)
  const mutual = await startPostgres(t, { tls: 'mutual' })
  await t.resolves(pgClient(t, mutual.url, { ssl: CERTIFICATES.client }).connect())
  await t.rejects(pgClient(t, mutual.url, { ssl: { ca } }).connect(), /client certificate/)
})
