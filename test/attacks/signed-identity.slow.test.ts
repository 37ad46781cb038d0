/**
 * Forged and replayed identities: an upstream that verifies the JWT of the gateway believes it. No client gets a header of
 * that name to an upstream, none makes the gateway's vanish, and no JWT is good for another upstream or another caller.
 */

import { sensitiveHeaders } from 'node:http2'
import t, { type Test } from 'tap'
import { HEADER, keyFile, newKey, verified } from '../identity/support.ts'
import { ask, authority, openSession } from '../http2/support.ts'
import { serve2 } from '../proxy/http2/support.ts'
import { type Seen, startWorld, type World, type WorldOptions } from '../support/world.ts'
import { handshake, WebSocketClient, startWebSocketUpstream } from '../websocket/support.ts'
import { roundTrip } from '../support/raw-client.ts'
import { metricsOf } from '../support/operations.ts'

const KEYS = '/.well-known/seatgate/jwks.json'
const CUSTOM = 'x-acme-identity'
const secure = authority.issue({ names: ['a.example', '127.0.0.1'] })

/** As the most lenient reader sees the name. */
const spellingsOf = (name: string) => [
  name,
  name.toUpperCase(),
  name.replaceAll('-', '_'),
  name.replace('-', '_').toUpperCase(),
  name.replace('-', '.'),
  name.replace(/-([^-]*)$/, "'$1"),
]

async function start(t: Test, header: string, options: WorldOptions, key = newKey()) {
  const world = await startWorld(t, {
    ...options,
    top: [`identity: { header: ${header}, lifetime: 5m, keys: [${keyFile(t, key)}] }`],
  })
  await world.seat('Viewer', ['main'], ['trainings:list'])
  return world
}

/** One with the default header, and one with a header outside of the namespace that is always dropped. */
const beside = { name: 'billing', upstream: [], routes: ['GET /v1/bills: authenticated'] }
const key = newKey()
const worlds = {
  [HEADER]: await start(t, HEADER, { beside }, key),
  [CUSTOM]: await start(t, CUSTOM, { secure }),
}

async function aliceOf(world: World): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await world.token(['main:Viewer'])}`, space: 'main' }
}

const keySetOf = async ({ client }: World) => (await client.send('GET', KEYS)).body
function lastOf({ upstream }: World): Seen {
  const seen = upstream.seen.at(-1)
  if (seen === undefined) throw new Error('nothing was forwarded')
  return seen
}

const flat = (headers: Record<string, string>) => Object.entries(headers).flat()

for (const header of [HEADER, CUSTOM] as const)
  t.test(`${header}: no spelling of a client passes, on any kind of route`, async (t) => {
    const world = worlds[header]
    const alice = await aliceOf(world)
    const keySet = await keySetOf(world)
    const forged = spellingsOf(header).flatMap((name) => [name, 'eyJmb3JnZWQ.e30.'])
    for (const [path, credential] of [
      ['/v1/trainings', alice],
      ['/v1/me', alice],
      ['/docs/a', {}],
      ['/docs/a', alice],
    ] as const) {
      const { status } = await world.client.send('GET', path, [...flat(credential), ...forged])
      t.equal(status, 200)
      const { rawHeaders, headers } = lastOf(world)
      t.notOk(
        rawHeaders.some((text) => text.includes('eyJmb3JnZWQ')),
        `${path}: ${JSON.stringify(rawHeaders)}`,
      )
      const similar = rawHeaders.filter((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-') === header)
      if (path === '/docs/a') t.strictSame(similar, [], 'a public route has none')
      else {
        t.strictSame(similar, [header], 'once')
        t.equal((await verified(String(headers[header]), keySet, 'main')).sub, 'alice')
      }
    }
  })

t.test('Connection cannot make it vanish', async (t) => {
  for (const header of [HEADER, CUSTOM] as const) {
    const world = worlds[header]
    const named = { ...(await aliceOf(world)), connection: `keep-alive, ${header}, ${header.toUpperCase()}` }
    t.equal((await world.client.send('GET', '/v1/me', { ...named, [header]: 'x' })).status, 200)
    const { headers } = lastOf(world)
    t.equal((await verified(String(headers[header]), await keySetOf(world), 'main')).sub, 'alice')
    t.notMatch(headers.connection ?? '', header)
  }
})

t.test('a client of HTTP/2', async (t) => {
  const world = worlds[CUSTOM]
  const session = openSession(t, world.securePort)
  const alice = await aliceOf(world)
  for (const name of spellingsOf(CUSTOM).map((each) => each.toLowerCase())) {
    const fields = { ':path': '/v1/me', ...alice, [name]: 'eyJmb3JnZWQ.e30.' }
    t.equal((await ask(session, fields)).status, 200, name)
    const { rawHeaders, headers } = lastOf(world)
    t.notOk(rawHeaders.some((text) => text.includes('eyJmb3JnZWQ')))
    t.equal((await verified(String(headers[CUSTOM]), await keySetOf(world), 'main')).sub, 'alice')
  }
})

t.test('an upstream of HTTP/2: one field, which no proxy between may index', async (t) => {
  const seen: { readonly value: unknown; readonly sensitive: unknown }[] = []
  const { port } = await serve2(t, (stream, headers) => {
    seen.push({ value: headers[HEADER], sensitive: (headers as Record<symbol, unknown>)[sensitiveHeaders] })
    stream.respond({ ':status': 200 }, { endStream: true })
  })
  const world = await start(t, HEADER, { target: `http://127.0.0.1:${port}`, upstream: ['protocol: h2c'] })
  const headers = { ...(await aliceOf(world)), [HEADER]: 'eyJmb3JnZWQ.e30.' }
  for (let i = 0; i < 3; i++) t.equal((await world.client.send('GET', '/v1/me', headers)).status, 200)
  const keySet = await keySetOf(world)
  for (const { value, sensitive } of seen) {
    t.equal((await verified(String(value), keySet, 'main')).sub, 'alice')
    t.match(sensitive, [HEADER])
  }
  t.equal(new Set(seen.map(({ value }) => value)).size, 1, 'it is sent again')
})

t.test('a handshake of a WebSocket', async (t) => {
  const upstream = await startWebSocketUpstream(t)
  const world = await start(t, CUSTOM, {
    target: upstream.url,
    routes: ['GET /open: public', 'GET /mine: authenticated'],
  })
  const { authorization = '' } = await aliceOf(world)
  const forged = spellingsOf(CUSTOM).map((name) => `${name}: eyJmb3JnZWQ.e30.`)
  for (const path of ['/mine', '/open']) {
    const lines = [`Authorization: ${authorization}`, ...forged]
    const client = await new WebSocketClient(world.port).send(handshake(path, lines)).opened()
    const { request } = upstream.sockets.at(-1) ?? {}
    t.notOk(request?.rawHeaders.some((text) => text.includes('eyJmb3JnZWQ')))
    const value = request?.headers[CUSTOM]
    if (path === '/open') t.equal(value, undefined)
    else t.equal((await verified(String(value), await keySetOf(world), 'main')).sub, 'alice')
    client.socket.destroy()
  }
})

t.test('a token that one upstream received is none for another', async (t) => {
  const world = worlds[HEADER]
  const before = world.upstream.seen.length
  const alice = await aliceOf(world)
  await world.client.send('GET', '/v1/me', alice)
  await world.client.send('GET', '/v1/bills', alice)
  const [main = '', bills = ''] = world.upstream.seen
    .slice(before)
    .map(({ headers }) => String(headers[HEADER]))
  const keySet = await keySetOf(world)
  await verified(main, keySet, 'main')
  await verified(bills, keySet, 'billing')
  await t.rejects(verified(main, keySet, 'billing'), /"aud"/)
  await t.rejects(verified(bills, keySet, 'main'), /"aud"/)
})

t.test('none of another caller, and none of before a change, however the requests alternate', async (t) => {
  const world = worlds[HEADER]
  const editor = await world.seat('Editor', ['main'], ['trainings:list'])
  const keySet = await keySetOf(world)
  const tokens = await Promise.all(
    ['alice', 'bob'].map((sub) => world.token(['main:Viewer', 'main:Editor'], { sub })),
  )
  const claims = async (user: number) => {
    const headers = { authorization: `Bearer ${tokens[user]}`, space: 'main' }
    t.equal((await world.client.send('GET', '/v1/trainings', headers)).status, 200)
    return verified(String(world.upstream.seen.at(-1)?.headers[HEADER]), keySet, 'main')
  }
  for (let i = 0; i < 6; i++) t.equal((await claims(i % 2)).sub, ['alice', 'bob'][i % 2])
  t.strictSame((await claims(0))['seats'], ['Viewer', 'Editor'])
  await world.admin('PUT', `/v1/seats/${editor}`, { permissions: ['trainings:delete'] })
  t.strictSame((await claims(0))['seats'], ['Viewer'], 'the very next request')
  await world.admin('PUT', `/v1/seats/${editor}`, { permissions: ['trainings:list'] })
  t.strictSame((await claims(0))['seats'], ['Viewer', 'Editor'])
})

t.test('the keys: for anyone, without a private part, and for no other method', async (t) => {
  const world = worlds[HEADER]
  const before = world.upstream.seen.length
  const { status, headers, json } = await world.client.send('GET', KEYS)
  t.strictSame([status, headers['cache-control']], [200, 'public, max-age=300'])
  t.strictSame(Object.keys(json.keys[0]).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  const head = await world.client.send('HEAD', KEYS)
  t.strictSame([head.status, head.body, head.headers['content-length']], [200, '', headers['content-length']])
  t.equal((await world.client.send('POST', KEYS)).status, 405)
  const odd = await roundTrip(
    world.port,
    `GET ${KEYS.replace('seatgate', '%73eatgate')} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  )
  t.match(odd, /^HTTP\/1\.1 200 /, 'the path is read as any other')
  t.equal(world.upstream.seen.length, before, 'nothing was forwarded')
})

t.test('without identity: 404, and a header of that name is still dropped', async (t) => {
  const world = await startWorld(t)
  const answer = await world.client.send('GET', KEYS)
  t.strictSame([answer.status, answer.json.code], [404, 'route_not_found'])
  await world.client.send('GET', '/docs/a', { [HEADER]: 'eyJmb3JnZWQ.e30.', [CUSTOM]: 'passes' })
  const { headers } = lastOf(world)
  t.strictSame([headers[HEADER], headers[CUSTOM]], [undefined, 'passes'])
})

t.test('no key in a log line, a metric or an answer', async (t) => {
  const world = worlds[HEADER]
  await world.client.send('GET', '/v1/me', await aliceOf(world))
  await world.client.send('GET', KEYS)
  const metrics = await metricsOf(world)
  t.match(metrics, /seatgate_cache_lookups_total\{cache="identities",result="miss"\} [1-9]/)
  const shown = [world.logText(), metrics, await keySetOf(world)].join('\n')
  for (const line of key.split('\n').filter((each) => each.length > 30 && !each.includes('-----')))
    t.notOk(shown.includes(line))
  const token = String(lastOf(world).headers[HEADER])
  t.notOk(shown.includes(token.slice(-40)), 'nor a token')
})
