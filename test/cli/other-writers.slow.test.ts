/** Programs that write to the store beside a running gateway: decisions use their changes once they report success. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openSqliteStore } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { LEASE, MARGIN } from '../../src/coherence/lease.ts'
import { loadConfig } from '../../src/config/load.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { fetchConforming } from '../support/openapi.ts'
import { served } from '../support/served.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { env, startUpstream, startWorld } from '../support/world.ts'
import { seatgateHere } from './in-process.ts'

t.test('bootstrap: the key works as soon as it is printed', async (t) => {
  const { folder, origin } = await startGatewayProcess(t)
  for (let round = 0; round < 2; round++) {
    const made = await seatgateHere(folder, ['bootstrap', '--tenant', 'acme', '--json'], env)
    t.equal(made.code, 0, made.err)
    const headers = { 'x-api-key': JSON.parse(made.out).key, space: 'admin' }
    const { status } = await served(() => fetchConforming(`${origin}/v1/seats`, { headers }))
    t.equal(status, 200)
  }
})

t.test('explain agrees with the gateway, on the same store', async (t) => {
  const world = await startWorld(t)
  const [key = '', token] = [world.keys['acme'], await world.token(['admin:admin'])]
  const callers: [args: string[], headers: Record<string, string>][] = [
    [['--api-key', key], { 'x-api-key': key }],
    [['--token', token], { authorization: `Bearer ${token}` }],
    [['--token', 'nonsense'], { authorization: 'Bearer nonsense' }],
    [[], {}],
  ]
  const asks: [method: string, path: string, spaces: string[]][] = [
    ['GET', '/v1/trainings', ['admin', 's1']],
    ['GET', '/v1/me', ['s1']],
    ['GET', '/v1/openapi.json', ['s1']],
    ['GET', '/docs/a', ['s1']],
    ['PUT', '/v1/trainings', ['admin']],
    ['GET', '/%2e', ['admin']],
  ]
  for (const [method, path, spaces] of asks)
    for (const [caller, headers] of callers)
      for (const space of spaces) {
        const args = ['explain', method, path, '--space', space, '--json', ...caller]
        const explained = await seatgateHere(world.folder, args, env)
        const answer = await world.client.send(method, path, { ...headers, space })
        const isProblem = answer.headers['content-type'] === 'application/problem+json'
        const what = `${method} ${path} ${caller[0]} ${space}`
        t.equal(JSON.parse(explained.out).code, isProblem ? answer.json.code : 'allow', what)
      }
})

t.test('stopped during a write and continued: no decision uses the old state', async (t) => {
  const upstream = await startUpstream(t)
  const gateway = await startGatewayProcess(t, { target: upstream.url, env })
  const config = await loadConfig(join(gateway.folder, 'gateway.config.yaml'), env)
  const tenant = config.tenants.get('acme')
  if (tenant === undefined) throw new Error('no tenant')
  const store = await openSqliteStore({ path: join(gateway.folder, 'seatgate.db'), timeout: 60_000 })
  t.teardown(() => store.close())
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  const writer = () => ({ tenant: 'acme', by: 'test', scope, now: Date.now() })
  const viewer = { name: 'Viewer', spaces: ['s1'], permissions: ['trainings:list'] }
  const made = await store.createSeat(writer(), viewer)
  if (isRefusal(made)) throw new Error(made.detail)
  const token = await mintToken(tenant, { sub: 'alice', hashPerm: ['s1:Viewer'] }, Date.now())
  const request = `GET /v1/trainings HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nSpace: s1\r\n\r\n`
  const clients = Array.from({ length: 10 }, () => new RawClient(gateway.port))
  t.teardown(() => clients.forEach((client) => client.close()))
  let sent = 0
  const send = async () => {
    await Promise.all(clients.map((client) => client.sendEach([request])))
    sent++
  }
  const statuses = async () => {
    const answers = await Promise.all(clients.map((client) => client.responses(sent)))
    return new Set(answers.map(({ all }) => all.at(-1)?.status))
  }
  const inMemory = async (status: number) => {
    await send()
    const found = await statuses()
    return found.size === 1 && found.has(status)
  }
  for (const grant of [false, true]) {
    await until(() => inMemory(grant ? 403 : 200), 'the state before the write')
    await gateway.freeze()
    const permissions = grant ? ['trainings:list'] : ['trainings:read']
    await store.updateSeat(writer(), made.value.id, { permissions })
    // As long as a program that writes waits for a gateway that does not acknowledge.
    await sleep(LEASE + MARGIN)
    // The requests lie in the buffers of open connections, so that they are the first that the gateway reads.
    await send()
    gateway.thaw()
    const decided = new Set<number | undefined>()
    const isDecided = async () => {
      const found = await statuses()
      for (const status of found) if (status !== 503) decided.add(status)
      if (!found.has(503)) return true
      // A gateway that has stood still may have to ask its store first.
      await send()
      return false
    }
    await until(isDecided, 'decisions instead of 503')
    t.same(decided, new Set([grant ? 200 : 403]))
  }
})
