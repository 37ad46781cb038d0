/** Requests through a whole gateway: who may pass, and what the upstream, the log and the metrics are told of it. */

import t from 'tap'
import type { Answer } from '../support/client.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

const bearer = (token: string, space?: string) => ({
  authorization: `Bearer ${token}`,
  ...(space === undefined ? {} : { space }),
})

const world = await startWorld(t)
t.beforeEach(() => {
  world.upstream.seen.length = 0
})
await world.seat('Viewer', ['s1', 's2', 's', 's1.x'], ['trainings:list'])

t.test('metrics and health', async (t) => {
  await world.client.send('GET', '/docs/a')
  await world.client.send('GET', '/nowhere/at/all')
  t.equal(await (await fetch(`${world.ops}/livez`)).text(), 'ok\n')
  const ready = await fetch(`${world.ops}/readyz`)
  t.equal(ready.status, 200)
  t.match(await ready.json(), { status: 'ready', store: 'ok', config: { version: 1 } })
  let metrics = ''
  await until(async () => {
    metrics = await metricsOf(world)
    return metrics.includes('seatgate_requests_in_flight 0')
  }, 'the end of the requests')
  t.match(metrics, 'seatgate_requests_total{route="GET /docs/*",status="200"} 1')
  t.match(metrics, 'seatgate_requests_total{route="(none)",status="404"} 1')
  t.match(metrics, 'seatgate_decisions_total{code="route_not_found"} 1')
  t.notMatch(metrics, '/nowhere')
  t.equal((await fetch(`${world.ops}/`)).status, 404)
  t.equal((await fetch(`${world.ops}/livez`, { method: 'POST' })).status, 405)
})

t.test('the specified table of checks, through the listener', async (t) => {
  await world.seat('Creator', ['s1'], ['trainings:create'])
  await world.seat('Everything', ['s1'], ['*'])
  const ask = async (method: string, entries: string[], space = 's1') => {
    const answer = await world.client.send(method, '/v1/trainings', bearer(await world.token(entries), space))
    return answer.status === 200 ? 200 : `${answer.status} ${answer.json.code}`
  }
  t.equal(await ask('GET', ['s2:Viewer']), '403 no_seat_in_space', 'no entry for the space')
  t.equal(
    await ask('POST', ['s1:Viewer']),
    '403 permission_denied',
    'an entry, but none that holds the permission',
  )
  t.equal(await ask('GET', ['s1:Viewer']), 200, 'one Seat holds it')
  t.equal(await ask('POST', ['s1:Everything']), 200, 'one Seat holds *')
  t.equal(await ask('POST', ['s1:Viewer', 's1:Creator']), 200, 'one of several holds it')
  t.equal(await ask('GET', ['s1:Nobody']), '403 permission_denied', 'a Seat that does not exist')
  t.equal(await ask('GET', ['s3:Viewer'], 's3'), '403 permission_denied', 'the Seat does not list the space')
  t.equal(await ask('GET', []), '403 no_seat_in_space')
})

t.test('spaces are compared exactly', async (t) => {
  const token = await world.token(['s1:Viewer'])
  for (const space of ['s', 's1.x', 'S1', 's1-', 's11']) {
    const answer = await world.client.send('GET', '/v1/trainings', bearer(token, space))
    t.equal(answer.json.code, 'no_seat_in_space', space)
  }
})

t.test('a colon in a Seat name belongs to the name', async (t) => {
  await world.seat('a:b:c', ['s1'], ['trainings:list'])
  await world.seat('b', ['s1:a'.slice(0, 2)], ['*'])
  t.equal(
    (await world.client.send('GET', '/v1/trainings', bearer(await world.token(['s1:a:b:c']), 's1'))).status,
    200,
  )
  t.equal(
    (await world.client.send('GET', '/v1/trainings', bearer(await world.token(['s1:a:b']), 's1'))).status,
    403,
  )
})

t.test("another tenant's Seat of the same name grants nothing", async (t) => {
  await world.seat('Theirs', ['s1'], ['trainings:list'], 'globex')
  const here = await world.client.send('GET', '/v1/trainings', bearer(await world.token(['s1:Theirs']), 's1'))
  t.equal(here.json.code, 'permission_denied')
  const token = await world.token(['s1:Theirs'], { tenant: 'globex' })
  t.equal((await world.client.send('GET', '/v1/trainings', bearer(token, 's1'))).status, 200)
})

t.test('the first credential present decides', async (t) => {
  const good = bearer(await world.token(['s1:Viewer']), 's1')
  const bad = await world.client.send('GET', '/v1/trainings', { ...good, 'x-api-key': 'sk_nonsense' })
  t.equal(bad.json.code, 'api_key_invalid', 'an invalid API key never falls back to a valid token')
  const key = await world.client.send('GET', '/v1/trainings', {
    'x-api-key': world.keys.acme ?? '',
    authorization: 'Bearer nonsense',
    space: 'admin',
  })
  t.equal(key.status, 200, 'an invalid token does not affect a valid key')
  t.equal(world.upstream.seen.at(-1)?.headers['x-seatgate-auth'], 'api-key')
})

t.test('the caller in the headers for the upstream', async (t) => {
  await world.seat('Zoë, boss%', ['s1'], ['trainings:list'])
  await world.seat('Other', ['s1'], ['trainings:create'])
  const token = await world.token(['s1:Zoë, boss%', 's1:Other', 's1:Viewer'], { sub: 'alice' })
  const answer = await world.client.send('GET', '/v1/trainings?a=%2f', bearer(token, 's1'))
  const seen = world.upstream.seen[0]
  t.equal(seen?.url, '/v1/trainings?a=%2f')
  t.match(seen?.headers, {
    'x-seatgate-tenant': 'acme',
    'x-seatgate-user': 'alice',
    'x-seatgate-space': 's1',
    'x-seatgate-permission': 'trainings:list',
    'x-seatgate-auth': 'bearer',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': `127.0.0.1:${world.port}`,
    host: world.upstream.url.slice('http://'.length),
  })
  t.match(seen?.headers['x-seatgate-email'], /^alice(@|%40)example\.com$/)
  t.same(String(seen?.headers['x-seatgate-seats']).split(',').sort(), ['Viewer', 'Zo%C3%AB%2C%20boss%25'])
  t.equal(seen?.headers['x-request-id'], answer.headers['x-request-id'])
  t.notOk('authorization' in (seen?.headers ?? {}), 'the gateway removes the token')
})

t.test('an API key is identified by its id', async (t) => {
  const made = await world.admin('POST', '/v1/api-keys', { name: 'ci', seats: ['admin'] })
  await world.client.send('GET', '/v1/me', { 'x-api-key': made.json.key })
  t.match(world.upstream.seen[0]?.headers, { 'x-seatgate-user': made.json.id, 'x-seatgate-auth': 'api-key' })
})

t.test('public routes read no credential and forward none', async (t) => {
  const answer = await world.client.send('GET', '/docs/a/b', {
    authorization: 'Bearer nonsense',
    'x-api-key': 'nonsense',
    'x-seatgate-user': 'root',
    cookie: 'a=b; __Host-seatgate-session=secret; c=d',
  })
  t.equal(answer.status, 200)
  const headers = world.upstream.seen[0]?.headers ?? {}
  t.match(headers.cookie, /^a=b; ?c=d$/)
  t.same(
    Object.keys(headers).filter((name) => /seatgate|authorization|api-key/.test(name)),
    [],
  )
})

t.test('authenticated routes need a credential and no space', async (t) => {
  t.equal((await world.client.send('GET', '/v1/me')).json.code, 'credentials_missing')
  const answer = await world.client.send('GET', '/v1/me', bearer(await world.token([])))
  t.equal(answer.status, 200)
  t.notOk('x-seatgate-space' in (world.upstream.seen[0]?.headers ?? {}))
  const token = await world.token(['main:Viewer', 'main:Ghost', 'other:Editor'])
  t.equal((await world.client.send('GET', '/v1/me', { ...bearer(token), space: 'main' })).status, 200)
  const { headers } = world.upstream.seen[1] ?? {}
  t.same(
    Object.keys(headers ?? {}).filter((name) => name.startsWith('x-seatgate-')),
    ['x-seatgate-auth', 'x-seatgate-tenant', 'x-seatgate-user', 'x-seatgate-email'],
    'the space that it names all the same is for the log alone',
  )
  const named = () => world.log().find(({ path, space }) => path === '/v1/me' && space === 'main')
  await until(() => named() !== undefined, 'the line')
  t.same(named()?.seats, ['Viewer:named', 'Ghost:named'])
})

t.test('a request without a matching entry is never forwarded', async (t) => {
  const key = { 'x-api-key': world.keys.acme ?? '', space: 'admin' }
  t.equal((await world.client.send('GET', '/nowhere', key)).json.code, 'route_not_found')
  const wrong = await world.client.send('PATCH', '/v1/trainings/7', key)
  t.equal(wrong.json.code, 'method_not_allowed')
  t.equal(wrong.headers.allow, 'DELETE, GET, HEAD')
  t.equal((await world.client.send('TRACE', '/v1/trainings', key)).status, 405)
  t.equal(world.upstream.seen.length, 0)
})

t.test('the log has one line a request, with the decision and without the credential', async (t) => {
  const token = await world.token(['s1:Viewer'])
  const answer = await world.client.send('GET', '/v1/trainings?secret=1', {
    ...bearer(token, 's1'),
    cookie: 'a=hidden',
  })
  const refused = await world.client.send('GET', '/v1/trainings', { space: 's1' })
  const linesOf = ({ headers }: Answer) =>
    world.log().filter((line) => line.msg === 'request' && line.request_id === headers['x-request-id'])
  await until(() => linesOf(refused).length > 0, 'the lines')
  t.equal(linesOf(answer).length, 1)
  const [line] = linesOf(answer)
  t.match(line, {
    method: 'GET',
    path: '/v1/trainings',
    route: 'GET /v1/trainings',
    status: 200,
    code: 'allow',
    tenant: 'acme',
    user: 'alice',
    auth: 'bearer',
    space: 's1',
    permission: 'trainings:list',
    seats: ['Viewer:grants'],
    upstream: 'main',
  })
  t.match(linesOf(refused), [{ status: 401, code: 'credentials_missing' }])
  const text = world.logText()
  for (const secret of [token, token.split('.')[2] ?? '', 'secret=1', 'hidden', ...Object.values(world.keys)])
    t.notOk(text.includes(secret))
})

t.test('the request id of a trusted proxy is kept; any other client gets a new one', async (t) => {
  const trusting = await startWorld(t, { top: ['trusted_proxies: [127.0.0.0/8]'] })
  const kept = await trusting.client.send('GET', '/docs/a', { 'x-request-id': 'from-the-proxy' })
  t.equal(kept.headers['x-request-id'], 'from-the-proxy')
  t.equal(trusting.upstream.seen[0]?.headers['x-request-id'], 'from-the-proxy')
  const odd = await trusting.client.send('GET', '/docs/a', { 'x-request-id': 'no id {}' })
  t.match(odd.headers['x-request-id'], /^[0-9a-f-]{36}$/)
  const own = await world.client.send('GET', '/docs/a', { 'x-request-id': 'from-anyone' })
  t.match(own.headers['x-request-id'], /^[0-9a-f-]{36}$/)
  t.equal(world.upstream.seen[0]?.headers['x-request-id'], own.headers['x-request-id'])
})

t.test('an invalid space id is refused on every route that reads it', async (t) => {
  const token = await world.token([])
  for (const path of ['/v1/me', '/v1/trainings']) {
    const answer = await world.client.send('GET', path, bearer(token, 'a b'))
    t.equal(answer.json.code, 'request_malformed', path)
  }
  t.equal(
    (await world.client.send('GET', '/docs/a', { space: 'a b' })).status,
    200,
    'a public route reads none',
  )
})
