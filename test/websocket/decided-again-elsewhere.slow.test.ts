/** Re-evaluation after writes of another worker or gateway, and after a reload. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { bootstrapTenant, openStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { loadConfig } from '../../src/config/load.ts'
import { startGateway } from '../../src/composition.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { Client } from '../support/client.ts'
import { routeTable, writeConfiguration } from '../support/configuration.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { env, startWorld } from '../support/world.ts'
import { openHeld, HELD_ROUTES, reevaluated, reevaluatedAgain, serveEvents } from './held.ts'
import { startWebSocketUpstream } from './support.ts'
import { serverFolder } from '../support/servers/folder.ts'

t.test('two gateways on one PostgreSQL: a write at one closes open exchanges at the other', async (t) => {
  const { gateways, key, token } = await startTwo(t)
  const [here, there] = gateways.map((gateway) => new Client(gateway.addresses.front.port))
  t.teardown(() => [here, there].forEach((client) => client?.close()))
  const admin = { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' }
  const send = async (method: string, path: string, body: unknown) =>
    (await there?.send(method, path, admin, JSON.stringify(body)))?.json
  const seat = { name: 'Viewer', spaces: ['s1'], permissions: ['trainings:list'] }
  const { id } = await send('POST', '/v1/seats', seat)
  const lines = [`Authorization: Bearer ${await token(['s1:Viewer'])}`, 'Space: s1']
  const held = await openHeld(gateways[0]?.addresses.front.port ?? 0, lines)
  const { key: opened, id: keyId } = await send('POST', '/v1/api-keys', { name: 'K', seats: ['Viewer'] })
  const byKey = await openHeld(gateways[0]?.addresses.front.port ?? 0, [`x-api-key: ${opened}`, 'Space: s1'])
  await there?.send('DELETE', `/v1/api-keys/${keyId}`, { 'x-api-key': key, space: 'admin' })
  await byKey.cut(t, 'api_key_revoked')
  await held.staysOpen(t)
  await send('PUT', `/v1/seats/${id}`, { permissions: [] })
  await held.cut(t, 'permission_denied')
})

/** Two gateways in this process that share only a store. */
async function startTwo(t: Test) {
  const folder = serverFolder(t, 'two')
  const postgres = await startPostgres(t, { fsync: false })
  const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
  const store = await postgres.createDatabase('two')
  const file = writeConfiguration(folder, { routes: HELD_ROUTES, target: upstream.url, store })
  const config = await loadConfig(file, env)
  const opened = await openStore(config.store)
  const made = await bootstrapTenant(opened, { tenant: 'acme', adminSpace: 'admin', now: Date.now() })
  await opened.close()
  if (isRefusal(made)) throw new Error(made.detail)
  const log = await openLog({ pretty: false, destination: join(folder, 'log') })
  const gateways = [await startGateway(config, log), await startGateway(config, log)]
  t.teardown(() => Promise.all(gateways.map((gateway) => gateway.close(500))))
  const acme = config.tenants.get('acme')
  if (acme === undefined) throw new Error('no tenant')
  const token = (hashPerm: readonly string[]) => mintToken(acme, { sub: 'alice', hashPerm }, Date.now())
  return { gateways, key: made.key, token }
}

t.test('two workers: the exchange may be open at any of them', async (t) => {
  const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
  const world = await startWorld(t, { routes: HELD_ROUTES, target: upstream.url, top: ['workers: 2'] })
  const id = await world.seat('Viewer', ['s1'], ['trainings:list'])
  const lines = [`Authorization: Bearer ${await world.token(['s1:Viewer'])}`, 'Space: s1']
  const all = await Promise.all(Array.from({ length: 8 }, () => openHeld(world.port, lines)))
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:read'] })
  await Promise.all(all.map((held) => held.cut(t, 'permission_denied')))
})

t.test('a reload: a removed secret, a removed route, and a route that requires more', async (t) => {
  const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
  const world = await startWorld(t, { routes: HELD_ROUTES, target: upstream.url })
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  const own = [`Authorization: Bearer ${await world.token(['s1:Viewer'])}`, 'Space: s1']
  const foreign = [`Authorization: Bearer ${await world.token([], { tenant: 'globex' })}`]
  const [byToken, elsewhere, open] = await Promise.all([
    openHeld(world.port, own),
    openHeld(world.port, foreign, '/me'),
    openHeld(world.port, [], '/open'),
  ])
  const routes = (lines: readonly string[]) =>
    writeFileSync(join(world.folder, 'routes', 'main.yaml'), routeTable(lines))
  /** @param open exchanges that the reload concerns: each is evaluated again */
  const reload = async (open: number) => {
    const before = await reevaluated(world)
    await world.reload()
    await reevaluatedAgain(world, before, open)
  }
  routes([...HELD_ROUTES, 'GET /more: public'])
  await reload(6)
  for (const held of [byToken, elsewhere, open]) await held.staysOpen(t)
  routes(HELD_ROUTES.map((line) => line.replace('public', 'authenticated')))
  await reload(6)
  await open.cut(t, 'credentials_missing')
  for (const held of [byToken, elsewhere]) await held.staysOpen(t)
  const text = readFileSync(world.config.file, 'utf8')
  writeFileSync(world.config.file, text.replace(/^  globex: .*$/m, ''))
  await reload(4)
  await elsewhere.cut(t, 'token_invalid')
  await byToken.staysOpen(t)
  routes(['GET /other: public'])
  await world.reload()
  await byToken.cut(t, 'route_not_found')
})
