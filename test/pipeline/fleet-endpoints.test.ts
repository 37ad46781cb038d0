/** The built-in endpoints about the gateways: the canary, and the fleet of a store in a file. */

import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import t from 'tap'
import { packageRoot, versionOf } from '../../src/config/package-version.ts'
import { startWorld } from '../support/world.ts'

const started = Date.now()
const world = await startWorld(t, { top: ['advertise: http://10.0.0.7:8080'] })

t.test('the canary', async (t) => {
  const id = await world.seat('Canary', ['main'], ['canary:read'])
  const headers = { authorization: `Bearer ${await world.token(['main:Canary'])}`, space: 'main' }
  const ask = (method = 'GET') => world.client.send(method, '/v1/canary', headers)
  const answer = await ask()
  t.equal(answer.status, 204)
  t.equal(answer.body, '')
  t.equal(answer.headers['cache-control'], 'no-store')
  t.equal(answer.headers['content-length'], undefined)
  t.equal((await ask('HEAD')).status, 204)
  t.match((await ask('POST')).json, { status: 405, code: 'method_not_allowed' })
  t.match((await world.client.send('GET', '/v1/canary', { space: 'main' })).json, {
    code: 'credentials_missing',
  })

  await t.test('follows the Seat at once', async (t) => {
    await world.admin('PUT', `/v1/seats/${id}`, { permissions: [] })
    t.match((await ask()).json, { status: 403, code: 'permission_denied' })
    await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['canary:read'] })
    t.equal((await ask()).status, 204)
    await world.admin('DELETE', `/v1/seats/${id}`)
    t.equal((await ask()).status, 403)
  })
})

t.test('the fleet of a store in a file is its one gateway', async (t) => {
  const { status, json, headers } = await world.admin('GET', '/v1/fleet')
  t.equal(status, 200)
  t.equal(headers['cache-control'], 'no-store')
  t.equal(json.data.length, 1)
  const [own] = json.data
  t.match(own, {
    version: versionOf(packageRoot()),
    hash: world.config.hash,
    url: 'http://10.0.0.7:8080',
    refused: null,
    checks_files: true,
    seq: json.changes[0].seq,
  })
  t.ok(Date.parse(own.started_at) >= started && Date.parse(own.started_at) <= Date.now())
  t.ok(Number.isInteger(own.age_ms) && own.age_ms >= 0)
  t.equal((await world.admin('GET', '/v1/fleet')).json.data[0].id, own.id)
})

t.test('changes are numbered and measured, and have no names', async (t) => {
  await world.seat('A secret name', ['main'], [])
  await world.admin('POST', '/v1/blocks', { user: 'a secret user' })
  const { json, body } = await world.admin('GET', '/v1/fleet')
  t.match(json.changes.slice(0, 3), [{ kind: 'block' }, { kind: 'seat-name' }, { kind: 'seat' }])
  const numbers = json.changes.map(({ seq }: { seq: number }) => seq)
  t.same(
    numbers,
    [...numbers].sort((a, b) => b - a),
    'the newest first',
  )
  for (const { at, effective_ms: after } of json.changes) {
    t.ok(Date.parse(at) >= started)
    t.ok(typeof after === 'number' && after >= 0, 'its own writes')
  }
  t.notMatch(body, 'secret')
  const [, ...listed] = Object.keys(json.data[0])
  t.same(
    [...listed, ...Object.keys(json.changes[0])],
    [
      ...[
        'name',
        'started_at',
        'version',
        'seq',
        'age_ms',
        'hash',
        'tables',
        'refused',
        'checks_files',
        'beat',
        'url',
      ],
      ...['seq', 'at', 'kind', 'effective_ms'],
    ],
  )
})

t.test("one tenant does not see another's changes", async (t) => {
  const { json } = await world.admin('GET', '/v1/fleet', undefined, 'globex')
  t.same(json.changes, [])
  await world.seat('Theirs', ['main'], [], 'globex')
  const theirs = (await world.admin('GET', '/v1/fleet', undefined, 'globex')).json.changes
  t.match(theirs, [{ kind: 'seat-name' }, { kind: 'seat' }])
  const ours: { seq: number }[] = (await world.admin('GET', '/v1/fleet')).json.changes
  t.notOk(ours.some(({ seq }) => seq >= theirs[1].seq))
})

t.test('only in the admin space, and only with the permission', async (t) => {
  await world.seat('Everything', ['main', 'admin'], ['*'])
  await world.seat('Watcher', ['admin'], ['fleet:read'])
  const ask = async (name: string, space: string, method = 'GET') => {
    const authorization = `Bearer ${await world.token([`${space}:${name}`])}`
    return world.client.send(method, '/v1/fleet', { authorization, space })
  }
  t.match((await ask('Everything', 'main')).json, {
    status: 403,
    code: 'permission_denied',
    detail: /admin space/,
  })
  t.equal((await ask('Everything', 'main', 'HEAD')).status, 403)
  t.equal((await ask('Everything', 'admin')).status, 200)
  t.equal((await ask('Watcher', 'admin')).status, 200)
  t.match((await ask('Canary', 'admin')).json, { status: 403 })
})

t.test("a tenant sees the fingerprints of its own secrets, and no other's", async (t) => {
  const fingerprint = (tenant: string) =>
    (world.config.tenants.get(tenant)?.token.secrets ?? []).map((secret) =>
      createHmac('sha256', secret).update('seatgate fingerprint').digest('hex').slice(0, 12),
    )
  const { json: fleet } = await world.admin('GET', '/v1/fleet')
  for (const tenant of ['acme', 'globex']) {
    const { status, json, body } = await world.admin('GET', '/v1/fleet/secrets', undefined, tenant)
    t.equal(status, 200)
    const accepts = fingerprint(tenant)
    t.equal(accepts.length, 1)
    const name = `${hostname()} ${process.pid}`
    t.match(json, {
      data: [{ tenant, instances: [{ id: fleet.data[0].id, name, signs: accepts[0], accepts }] }],
    })
    t.equal(json.data.length, 1)
    const other = tenant === 'acme' ? 'globex' : 'acme'
    t.notMatch(body, new RegExp(`${other}|secret of|${fingerprint(other)[0]}`))
  }
  const elsewhere = await world.client.send('GET', '/v1/fleet/secrets', {
    authorization: `Bearer ${await world.token(['main:Everything'])}`,
    space: 'main',
  })
  t.match(elsewhere.json, { status: 403, code: 'permission_denied', detail: /admin space/ })
  for (const path of ['/v1/fleet', '/v1/fleet/secrets'])
    t.match((await world.admin('GET', `${path}?tenant=globex`)).json, { status: 400 }, path)
})
