/** The last use of API keys, as a running gateway records it at its end, and what a crash loses. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openSqliteStore } from '../../seats-admin/index.ts'
import { ADMIN, done, writer } from '../seats-admin/store/conformance.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { fetchConforming } from '../support/openapi.ts'
import { served } from '../support/served.ts'
import { startService } from './service.ts'

const ROUTES = ['GET /things: things:list']

async function start(t: Test, workers: number) {
  const service = await startService(t, 'one')
  const top = [`workers: ${workers}`]
  const gateway = await startGatewayProcess(t, { target: service.url, routes: ROUTES, top })
  const store = await openSqliteStore({ path: join(gateway.folder, 'seatgate.db'), timeout: 20_000 })
  t.teardown(() => store.close())
  done(
    await store.createSeat(writer(), {
      name: 'A',
      spaces: ['admin', 'one'],
      permissions: ['things:list', 'api-keys:list', 'api-keys:read'],
    }),
  )
  const makeKey = async () =>
    done(await store.createApiKey(writer(), { name: 'k', seats: ['A'], expiresAt: null })).value
  const send = async (path: string, key: string, space = 'one') => {
    const headers = { 'x-api-key': key, space, connection: 'close' }
    return served(() => fetchConforming(`${gateway.origin}${path}`, { headers }))
  }
  const use = async (key: string) => {
    const { status } = await send('/things', key)
    if (status !== 200) throw new Error(`status ${status}`)
  }
  const lastUse = async (id: string) => done(await store.readApiKey('acme', id, ADMIN)).lastUsedAt
  return { gateway, store, makeKey, send, use, lastUse }
}

for (const workers of [1, 2])
  t.test(`${workers} processes: recorded at an orderly end`, async (t) => {
    const { gateway, makeKey, use, lastUse } = await start(t, workers)
    const keys = [await makeKey(), await makeKey(), await makeKey()]
    const unused = await makeKey()
    const before = Date.now()
    for (let round = 0; round < 4; round++) for (const { key } of keys) await use(key)
    const after = Date.now()
    gateway.signal('SIGTERM')
    t.equal(await gateway.ended, 0)
    for (const { id } of keys) {
      const at = (await lastUse(id)) ?? 0
      t.ok(at >= before && at <= after, `${at}`)
    }
    t.equal(await lastUse(unused.id), null)
  })

t.test('kill -9 loses the uses since the last round', async (t) => {
  const { gateway, store, makeKey, send, use, lastUse } = await start(t, 1)
  const [first, second] = [await makeKey(), await makeKey()]
  const at = Date.now()
  await store.recordKeyUse([{ tenant: 'acme', id: first.id, at }])
  const response = await send(`/v1/api-keys/${first.id}`, first.key, 'admin')
  t.equal(((await response.json()) as { last_used_at: string }).last_used_at, new Date(at).toISOString())
  await use(second.key)
  gateway.signal('SIGKILL')
  await gateway.ended
  t.equal(await lastUse(first.id), at, 'what was written stays')
  t.equal(await lastUse(second.id), null)
})

t.test(
  'a store that is locked during the end delays it by seconds at most, and decides no request',
  async (t) => {
    const { gateway, makeKey, use, lastUse } = await start(t, 1)
    const { id, key } = await makeKey()
    await use(key)
    const other = new DatabaseSync(join(gateway.folder, 'seatgate.db'))
    other.exec('BEGIN IMMEDIATE')
    await use(key)
    gateway.signal('SIGTERM')
    t.equal(await gateway.ended, 0)
    t.ok(gateway.log.split('wait for the store').length <= 2, 'said once at most')
    other.exec('ROLLBACK')
    other.close()
    t.equal(await lastUse(id), null)
  },
)
