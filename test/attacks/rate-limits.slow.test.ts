/** Ways around a rate limit, and ways to harm others with one. */

import t, { type Test } from 'tap'
import { RateLimiter } from '../../src/decision/limits/rate-limiter.ts'
import { TokenLender } from '../../src/redis/token-lender.ts'
import { routeWith } from '../decision/limits/fleet-model.ts'
import { sendHandshake, startWebSocketUpstream } from '../websocket/support.ts'
import { startGrpcWorld } from '../grpc/world.ts'
import { pathOf } from '../grpc/service.ts'
import { Client } from '../support/client.ts'
import { startRedis } from '../support/servers/redis.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const LIMITS =
  'rate_limits: { calls: { limit: 1/h, burst: 3 }, address: { limit: 1/h, burst: 3, per: address } }'
const ROUTES = [
  'GET /mine: { permission: authenticated, rate_limit: [calls] }',
  'GET /address: { permission: public, rate_limit: [address] }',
]

async function ask(
  world: World,
  path: string,
  times: number,
  headers: (i: number) => Record<string, string>,
) {
  const found: number[] = []
  for (let i = 0; i < times; i++) found.push((await world.client.send('GET', path, headers(i))).status)
  return found
}

t.test('X-Forwarded-For of an untrusted client changes no key', async (t) => {
  const world = await startWorld(t, { routes: ROUTES, top: [LIMITS] })
  const names = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'X_Forwarded_For', 'cf-connecting-ip']
  const headers = (i: number) => Object.fromEntries(names.map((name) => [name, `203.0.113.${i}`]))
  t.same(await ask(world, '/address', 5, headers), [200, 200, 200, 429, 429])
})

t.test('behind a trusted proxy, only the last address that no proxy has counts', async (t) => {
  const world = await startWorld(t, { routes: ROUTES, top: [LIMITS, 'trusted_proxies: [127.0.0.0/8]'] })
  const forged = (i: number) => ({ 'x-forwarded-for': `203.0.113.${i}, 198.51.100.7` })
  t.same(await ask(world, '/address', 4, forged), [200, 200, 200, 429])
  const network = (i: number) => ({ 'x-forwarded-for': `2001:db8:0:1::${i}` })
  t.same(await ask(world, '/address', 4, network), [200, 200, 200, 429], 'one IPv6 network')
  const other = () => ({ 'x-forwarded-for': '198.51.100.8' })
  t.same(await ask(world, '/address', 1, other), [200], 'another client has its own')
})

t.test('other spellings of a path, and new tokens, share the budget', async (t) => {
  const world = await startWorld(t, { routes: ROUTES, top: [LIMITS] })
  const found: number[] = []
  for (const path of ['/mine', '/%6Dine', '/mine?a=1', '/m%69ne']) {
    const headers = { authorization: `Bearer ${await world.token([`main:${path.length}`])}` }
    found.push((await world.client.send('GET', path, headers)).status)
  }
  t.same(found, [200, 200, 200, 429])
})

t.test('an API key is no user, whatever the subject of a token is', async (t) => {
  const world = await startWorld(t, { routes: ROUTES, top: [LIMITS] })
  const key = { 'x-api-key': world.keys['acme'] ?? '' }
  t.same(await ask(world, '/mine', 4, () => key), [200, 200, 200, 429])
  const id = String(world.log().find((line) => line['auth'] === 'api-key')?.['user'])
  const forged = { authorization: `Bearer ${await world.token([], { sub: id })}` }
  t.same(await ask(world, '/mine', 1, () => forged), [200])
})

t.test('handshakes of WebSockets take a token each', async (t) => {
  const upstream = await startWebSocketUpstream(t)
  const world = await startWorld(t, { routes: ROUTES, top: [LIMITS], target: upstream.url })
  const clients = []
  for (let i = 0; i < 4; i++) {
    const client = sendHandshake(world.port, '/address')
    clients.push(client)
    await until(() => client.status !== 0, 'the answer')
  }
  t.same(
    clients.map(({ status }) => status),
    [101, 101, 101, 429],
  )
  t.match(clients[0]?.http, /\r\nRateLimit: "address";r=2;t=\d+\r\n/)
  t.match(clients[3]?.http, /\r\nRetry-After: \d+\r\n/)
  for (const { socket } of clients) socket.destroy()
})

t.test('calls of gRPC over HTTP/2 take a token each, and are told when to come back', async (t) => {
  const { world, caller } = await startGrpcWorld(t, {
    routes: [`POST ${pathOf('Unary')}: { permission: talk:unary, rate_limit: [calls] }`],
    top: [LIMITS],
  })
  await world.seat('Talker', ['north'], ['talk:unary'])
  const client = await caller(['north:Talker'])
  for (let i = 0; i < 3; i++) t.equal((await client.unary('a')).status.code, 0)
  const { status } = await client.unary('a')
  t.match(status, { code: 8, details: /^rate_limited: / })
  t.match(String(status.metadata?.get('grpc-retry-pushback-ms')), /^\d{7}$/)
})

t.test('a key that is revoked while tokens are asked for opens nothing', async (t) => {
  const redis = await startRedis(t)
  const world = await startWorld(t, { routes: ROUTES, top: [LIMITS, `redis: ${redis.url}`] })
  await until(async () => (await readiness(world))['redis'] === 'ok', 'Redis')
  await world.seat('Any', ['main'], ['trainings:list'])
  const made = await world.admin('POST', '/v1/api-keys', { name: 'short', seats: ['Any'] })
  t.equal(made.status, 200, made.body)
  const gate = gateOf(t)
  // More than there are tokens: those that get none are told the same, as 401 comes before 429.
  const clients = Array.from({ length: 6 }, () => new Client(world.port))
  t.teardown(() => clients.forEach((client) => client.close()))
  const answers = clients.map((client) => client.send('GET', '/mine', { 'x-api-key': made.json.key }))
  await gate.asked
  const other = await fetch(`http://127.0.0.1:${world.port}/v1/api-keys/${made.json.id}`, {
    method: 'DELETE',
    headers: { 'x-api-key': world.keys['acme'] ?? '', space: 'admin' },
  })
  t.ok(other.ok, 'revoked')
  gate.open()
  for (const { json } of await Promise.all(answers)) t.match(json, { status: 401, code: 'api_key_revoked' })
  t.equal(world.upstream.seen.length, 0)
})

async function readiness(world: World): Promise<Record<string, unknown>> {
  return (await (await fetch(`${world.ops}/readyz`)).json()) as Record<string, unknown>
}

/** Holds every loan back until it is opened. */
function gateOf(t: Test) {
  const { exchange } = TokenLender.prototype
  t.teardown(() => {
    TokenLender.prototype.exchange = exchange
  })
  const asked = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  TokenLender.prototype.exchange = async function (request) {
    asked.resolve()
    await opened.promise
    return exchange.call(this, request)
  }
  return { asked: asked.promise, open: () => opened.resolve() }
}

t.test('a flood of addresses is bounded in memory and gives no spent key a new burst', async (t) => {
  let now = 0
  const limit = { name: 'address', limit: 1, window: 3_600_000, burst: 2, per: 'address' } as const
  const limiter = new RateLimiter({ now: () => now, lender: null, processes: () => 1 })
  limiter.configure([limit])
  const take = (address: string) => {
    const verdict = limiter.take({ routes: [routeWith(limit)], principal: null, address: () => address })
    if (verdict === null || verdict instanceof Promise) throw new Error('nothing to wait for')
    return verdict.exceeded === null
  }
  t.same([take('victim'), take('victim'), take('victim')], [true, true, false])
  for (let i = 0; i < 150_000; i++) take(`flood ${i}`)
  t.ok(limiter.size < 102_000, `${limiter.size} keys`)
  t.equal(take('victim'), false)
  now += 2 * 3_600_000
  t.equal(take('newcomer'), true, 'refilled keys make room')
})
