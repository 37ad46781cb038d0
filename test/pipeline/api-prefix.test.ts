/** The gateway's own endpoints at another place: `api.prefix`. */

import t from 'tap'
import { seatgateHere } from '../cli/in-process.ts'
import { startWorld } from '../support/world.ts'

const ROUTES = ['GET /v1/users: public', 'ANY /v1/*: public', 'GET /auth/login: public']
const world = await startWorld(t, { routes: ROUTES, top: ['api: { prefix: /_seatgate }'] })
const key = world.keys['acme'] ?? ''
const headers = { 'x-api-key': key, space: 'admin' }

t.test('a service has the paths that they had', async (t) => {
  for (const path of ['/v1/users', '/v1/seats', '/v1/openapi.json']) {
    t.equal((await fetch(`http://127.0.0.1:${world.port}${path}`)).status, 200, path)
    t.equal(world.upstream.seen.at(-1)?.url, path)
  }
})

t.test('they answer behind the prefix alone', async (t) => {
  const listed = await world.client.send('GET', '/_seatgate/v1/seats', headers)
  t.match(listed, { status: 200, json: { data: [{ name: 'admin' }] } })
  const body = JSON.stringify({ name: 'Viewer', spaces: ['main'], permissions: ['docs:read'] })
  const json = { ...headers, 'content-type': 'application/json' }
  const made = await world.client.send('POST', '/_seatgate/v1/seats', json, body)
  t.equal(made.status, 200)
  const one = await world.client.send('GET', `/_seatgate/v1/seats/${made.json.id}`, headers)
  t.equal(one.json.name, 'Viewer')
  t.equal((await world.client.send('GET', '/_seatgate/v1/seats')).status, 401)
  t.equal((await world.client.send('GET', '/_seatgate/v1/other', headers)).status, 404)
  t.equal((await world.client.send('GET', '/_seatgate/auth/oidc/login')).status, 404, 'sign-in stays')
  t.match(
    world.log().findLast(({ route }) => String(route).includes('/v1/seats/{seat_id}')),
    {
      route: 'GET /_seatgate/v1/seats/{seat_id}',
    },
  )
})

t.test('their description has the paths as they are', async (t) => {
  const { json } = await world.client.send('GET', '/_seatgate/v1/openapi.json', headers)
  t.ok(json.paths['/_seatgate/v1/seats'])
  t.ok(json.paths['/auth/oidc/login'])
  t.notOk(json.paths['/v1/seats'])
  t.match(json.paths['/_seatgate/v1/seats'].get.tags, ['seats'])
})

t.test('the commands follow', async (t) => {
  const run = (...args: string[]) =>
    seatgateHere(world.folder, args, { SEATGATE_API_KEY: key, GLOBEX_SECRET: `${key}, of globex` })
  const url = `http://127.0.0.1:${world.port}/_seatgate`
  t.match(await run('seats', 'list', '--url', url, '--space', 'admin'), { code: 0, out: /admin/ })
  t.match((await run('routes', '--filter', '/_seatgate/v1/seats')).out, '/_seatgate/v1/seats')
  t.match((await run('routes', '--filter', '/v1/seats')).out, '')
})

t.test('sign-in and the keys of signed identity have a prefix of their own', async (t) => {
  const world = await startWorld(t, {
    routes: ['ANY /auth/*: public'],
    top: ['api: { auth_prefix: /_auth }'],
  })
  t.equal((await fetch(`http://127.0.0.1:${world.port}/auth/oidc/login`, { method: 'POST' })).status, 200)
  t.equal(world.upstream.seen.length, 1)
  const { json } = await world.client.send('GET', '/v1/openapi.json', {
    'x-api-key': world.keys['acme'] ?? '',
  })
  t.ok(json.paths['/_auth/auth/oidc/login'] && json.paths['/_auth/.well-known/seatgate/jwks.json'])
})
