/** Hosts, prefixes and sources of a space on a running gateway. */

import t from 'tap'
import { keyFile } from '../identity/support.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { holdLease } from '../support/held-lease.ts'
import { handshake, WebSocketClient, startWebSocketUpstream } from '../websocket/support.ts'
import { roundTrip } from '../support/raw-client.ts'

const KEYS = '/.well-known/seatgate/jwks.json'

async function statusOf(world: World, target: string, host: string): Promise<number> {
  const answer = await roundTrip(
    world.port,
    `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  )
  return Number(answer.slice(9, 12))
}

const world = await startWorld(t, {
  routes: ['GET /o: public', 'GET /x: docs:read'],
  shadow: ['GET /x: { permission: docs:read, space: { fixed: dev } }'],
  top: ['api_hosts: [127.0.0.1, "*.gw.example"]', `identity: { keys: [${keyFile(t)}] }`],
  tables: { 'own.yaml': 'host: app.example\nupstream: main\nroutes: { GET /v1/seats: public }\n' },
})

t.test('built-in endpoints answer only on api_hosts', async (t) => {
  t.equal(await statusOf(world, '/v1/seats', '127.0.0.1'), 401)
  t.equal(await statusOf(world, '/v1/seats', 'A.gw.example:80'), 401)
  t.equal(await statusOf(world, KEYS, 'a.gw.example'), 200)
  for (const path of ['/v1/seats', '/v1/openapi.json', '/auth/oidc/login', KEYS])
    for (const host of ['other', 'gw.example', 'a.b.gw.example'])
      t.equal(await statusOf(world, path, host), 404, host + path)
  t.equal(await statusOf(world, '/v1/seats', 'app.example'), 200, "a table's own path")
  t.equal(world.upstream.seen.at(-1)?.url, '/v1/seats')
  t.equal(await statusOf(world, '/o', 'a.gw.example'), 200, 'tables without a host')
})

t.test('a WebSocket needs no header, and its path is rewritten', async (t) => {
  const upstream = await startWebSocketUpstream(t)
  const world = await startWorld(t, {
    target: upstream.url,
    routes: ['GET /x: public'],
    upstream: ['base_path: /api'],
    tables: {
      'live.yaml':
        'host: "*.live.example"\nprefix: /live\nstrip_prefix: true\nspace: { host_label: 1 }\nupstream: main\nroutes: { GET /*: docs:read }\n',
    },
  })
  await world.seat('Reader', ['main'], ['docs:read'])
  const token = await world.token(['main:Reader'])
  const open = (host: string, ...more: string[]) => {
    const request = handshake('/live/feed?a=1', [`Authorization: Bearer ${token}`, ...more])
    return new WebSocketClient(world.port).send(request.replace(/Host: .*/, `Host: ${host}`))
  }
  const client = await open('Main.live.example').opened()
  t.equal(upstream.sockets[0]?.request.url, '/api/feed?a=1')
  t.equal(upstream.sockets[0]?.request.headers['x-seatgate-space'], 'main')
  client.socket.destroy()
  t.match((await open('dev.live.example').gone()).http, /no_seat_in_space/)
  t.match((await open('main.live.example', 'Space: dev').gone()).http, /space_conflict/)
  t.equal(upstream.sockets.length, 1)
})

t.test('a health check asks for its own path alone', async (t) => {
  const world = await startWorld(t, {
    routes: ['GET /x: public'],
    upstream: ['base_path: /api', 'health: { path: /healthz, interval: 100ms }'],
  })
  await until(() => world.upstream.seen.length > 0, 'a health check')
  t.equal(world.upstream.seen[0]?.url, '/healthz')
})

t.test('candidate tables judge by host and source', async (t) => {
  await holdLease(t, world)
  await world.seat('Reader', ['main'], ['docs:read'])
  const authorization = `Bearer ${await world.token(['main:Reader'])}`
  t.equal((await world.client.send('GET', '/x', { authorization, space: 'main' })).status, 200)
  const line = () => world.log().find(({ route }) => route === 'GET /x')
  await until(() => line() !== undefined, 'the line of the log')
  t.match(line(), { code: 'allow', shadow: 'space_conflict' })
})
