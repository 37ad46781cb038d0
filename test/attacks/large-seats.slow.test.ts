/**
 * A tenant's administrator gives a key hundreds of Seats with thousands of permissions each: one short request of
 * that key must not load them all into the process. Before, 300 Seats of 10,000 permissions stopped all tenants for 6
 * s, and took 360 MB.
 */

import t, { type Test } from 'tap'
import { isRefusal, openStore } from '../../seats-admin/index.ts'
import { Client } from '../support/client.ts'
import { collected } from '../support/garbage.ts'
import { startWorld, type World } from '../support/world.ts'

const SEATS = 150
/** Fewer than the requests of another tenant that are answered during one that reads all these Seats. */
const SERVED = 3
const PERMISSIONS = Array.from({ length: 10_000 }, (_, at) => `resource-${at}:operation`)

const ROUTES = ['GET /v1/last: resource-9999:operation', 'GET /v1/none: resource-10000:operation']

/** Written beside the gateway, as by a version without a bound, before the gateway has read any of them. */
async function heavyKey(world: World): Promise<{ key: string; names: string[] }> {
  const store = await openStore(world.config.store)
  const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
  const writer = { tenant: 'acme', by: 'eve', scope, now: Date.now() }
  const names = Array.from({ length: SEATS }, (_, at) => `Heavy ${at}`)
  for (const name of names)
    await store.createSeat(writer, { name, spaces: ['main'], permissions: PERMISSIONS })
  const made = await store.createApiKey(writer, { name: 'heavy', seats: names, expiresAt: null })
  if (isRefusal(made)) throw new Error(made.detail)
  await store.close()
  return { key: made.value.key, names }
}

/** The number of another tenant's requests, in sequence, that are answered during `attack`. */
async function answeredDuring(t: Test, world: World, attack: Promise<unknown>): Promise<number> {
  const client = new Client(world.port)
  t.teardown(() => client.close())
  const headers = { 'x-api-key': world.keys.globex ?? '', space: 'admin' }
  let [over, answered] = [false, 0]
  void attack.finally(() => {
    over = true
  })
  while (!over) {
    t.equal((await client.send('GET', '/v1/trainings', headers)).status, 200)
    answered++
  }
  return answered
}

async function heap(): Promise<number> {
  const { heapUsed, arrayBuffers } = await collected()
  return heapUsed + arrayBuffers
}

t.test('a key of 150 Seats of 10,000 permissions', async (t) => {
  const world = await startWorld(t, { routes: [...ROUTES, 'GET /v1/trainings: trainings:list'] })
  const { key, names } = await heavyKey(world)
  const before = await heap()
  const ask = (path: string) => world.client.send('GET', path, { 'x-api-key': key, space: 'main' })

  const attack = ask('/v1/last')
  t.ok((await answeredDuring(t, world, attack)) > SERVED, 'another tenant is served meanwhile')
  t.equal((await attack).status, 200)
  const { headers } = world.upstream.seen.find(({ url }) => url === '/v1/last') ?? {}
  t.equal(headers?.['x-seatgate-seats-count'], String(SEATS))
  t.equal((await ask('/v1/none')).status, 403)
  const taken = (await heap()) - before
  t.ok(taken < 8 * 1024 * 1024, `${taken} bytes are retained`)

  const token = await world.token(names.map((name) => `main:${name}`))
  const bearer = { authorization: `Bearer ${token}`, space: 'main' }
  const byName = world.client.send('GET', '/v1/last', bearer)
  t.ok((await answeredDuring(t, world, byName)) > SERVED)
  t.equal((await byName).status, 200)
  t.equal((await world.client.send('GET', '/v1/none', bearer)).status, 403)
})

t.test('decisions on a large Seat use its current state, although it is never cached whole', async (t) => {
  const world = await startWorld(t, {
    routes: ['GET /v1/first: resource-0:operation', 'GET /v1/second: resource-1:operation'],
    top: ['limits: { seat_bytes: 1MiB }'],
  })
  const id = await world.seat('Large', ['main', 'other'], PERMISSIONS)
  const token = await world.token(['main:Large', 'other:Large', 'third:Large'])
  const statuses = async (space: string) => {
    const headers = { authorization: `Bearer ${token}`, space }
    const all = []
    for (const path of ['/v1/first', '/v1/second'])
      all.push((await world.client.send('GET', path, headers)).status)
    return all
  }
  t.same(
    [await statuses('main'), await statuses('other'), await statuses('third')],
    [
      [200, 200],
      [200, 200],
      [403, 403],
    ],
  )
  for (let turn = 0; turn < 6; turn++) {
    const permissions = turn % 2 === 0 ? PERMISSIONS.slice(1) : PERMISSIONS
    t.equal((await world.admin('PUT', `/v1/seats/${id}`, { permissions })).status, 200)
    t.same(await statuses('main'), turn % 2 === 0 ? [403, 200] : [200, 200])
    const spaces = turn % 3 === 0 ? ['main'] : ['main', 'other']
    t.equal((await world.admin('PUT', `/v1/seats/${id}`, { spaces })).status, 200)
    t.equal((await statuses('other'))[1], turn % 3 === 0 ? 403 : 200)
  }
  t.equal(
    (await world.admin('PUT', `/v1/seats/${id}`, { permissions: ['resource-1:operation'] })).status,
    200,
  )
  t.same(await statuses('main'), [403, 200], 'small by now')
})

t.test('a Seat that is too large is refused, with an error that says so', async (t) => {
  const world = await startWorld(t)
  const body = { name: 'Large', spaces: ['main'], permissions: PERMISSIONS }
  const made = await world.admin('POST', '/v1/seats', body)
  t.equal(made.status, 400)
  t.match(made.json, {
    code: 'input_invalid',
    errors: [{ path: '/permissions', message: /limits\.seat_bytes is 65536/ }],
  })
  const id = await world.seat('Large', ['main'], PERMISSIONS.slice(0, 2000))
  const grown = await world.admin('PUT', `/v1/seats/${id}`, { permissions: PERMISSIONS })
  t.match([grown.status, grown.json.code], [400, 'input_invalid'])
})

t.test('the holder of a large Seat can pass on its permissions, and no others', async (t) => {
  const world = await startWorld(t)
  const held = ['seats:create', ...PERMISSIONS.slice(0, 2000)]
  await world.seat('Large', ['main'], held)
  const headers = {
    authorization: `Bearer ${await world.token(['main:Large'])}`,
    space: 'main',
    'content-type': 'application/json',
  }
  const create = async (name: string, permission: string) =>
    (
      await world.client.send(
        'POST',
        '/v1/seats',
        headers,
        JSON.stringify({ name, spaces: ['main'], permissions: [permission] }),
      )
    ).status
  t.equal(await create('One', 'resource-1999:operation'), 200)
  t.equal(await create('Two', 'resource-2000:operation'), 403)
  t.equal(await create('Three', '*'), 403)
})
