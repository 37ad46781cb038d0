/** CORS preflights (WHATWG Fetch, section 4.9) on a whole gateway: the table answers them. */

import t, { type Test } from 'tap'
import { APP, corsOf, preflight, useTables } from '../support/cors.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { roundTrip } from '../support/raw-client.ts'
import { metricsOf } from '../support/operations.ts'

const VARY = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'
const OWN_HEADERS = 'authorization, content-type, space, x-api-key'

async function start(t: Test): Promise<World> {
  const world = await startWorld(t, { upstream: ['allow_semicolons: true'], top: ['methods: [LIST]'] })
  await useTables(world, {
    main: {
      cors: `{ origins: [${APP}, "https://b.example"], credentials: true, headers: [If-Match], max_age: 1h }`,
      routes: [
        'GET /v1/items: items:list',
        'PUT /v1/items/{id}: items:write',
        'ANY /v1/any/*: public',
        'GET /v1/shared: public',
        'OPTIONS /v1/items/{id}: public',
      ],
    },
    other: {
      cors: '{ origins: ["*"] }',
      routes: ['POST /v1/shared: public', 'GET /open: public', 'DELETE /v1/any/special: public'],
    },
    plain: { cors: '', routes: ['ANY /plain/*: public', 'GET /v1/lone: public', 'PUT /v1/shared: public'] },
  })
  return world
}

const world = await start(t)
const { client, upstream } = world

t.test('granted', async (t) => {
  await t.test('without the upstream, and without a credential', async (t) => {
    const answer = await preflight(client, '/v1/items/7', 'PUT', { headers: 'if-match,x-api-key,space' })
    t.equal(answer.status, 204)
    t.same(corsOf(answer), {
      'allow-origin': APP,
      'allow-credentials': 'true',
      'allow-methods': 'OPTIONS, PUT',
      'allow-headers': `${OWN_HEADERS}, if-match`,
      'max-age': '3600',
    })
    t.equal(answer.headers.vary, VARY)
    t.equal(answer.body, '')
    t.equal(answer.headers['content-length'], undefined)
    t.equal(answer.headers['cache-control'], 'no-store')
    t.match(answer.headers['x-request-id'], /^[0-9a-f-]{36}$/)
    t.equal(upstream.seen.length, 0)
  })

  await t.test('a credential that a program sends is not looked at', async (t) => {
    const headers = { origin: APP, 'access-control-request-method': 'GET', authorization: 'Bearer nonsense' }
    t.equal((await client.send('OPTIONS', '/v1/items', headers)).status, 204)
  })

  await t.test('before an entry OPTIONS, and before ANY', async (t) => {
    for (const path of ['/v1/items/7', '/v1/any/x'])
      t.equal((await preflight(client, path, 'PUT')).status, 204, path)
    t.equal(upstream.seen.length, 0)
    t.equal((await client.send('OPTIONS', '/v1/items/7', { origin: APP })).status, 200, 'no preflight')
    t.equal(upstream.seen.length, 1)
    const answer = await client.send('OPTIONS', '/v1/items/7', { 'access-control-request-method': 'PUT' })
    t.equal(answer.status, 200, 'no Origin: no preflight')
  })

  await t.test('the methods are those of the policy at this path', async (t) => {
    const methods = async (path: string, method: string) =>
      corsOf(await preflight(client, path, method))['allow-methods']
    t.equal(await methods('/v1/items', 'GET'), 'GET, HEAD')
    t.equal(await methods('/v1/items', 'HEAD'), 'GET, HEAD')
    t.equal(await methods('/v1/shared', 'GET'), 'GET, HEAD')
    t.equal(await methods('/v1/shared', 'POST'), 'POST')
    const common = 'GET, HEAD, OPTIONS, PATCH, POST, PUT'
    t.equal(await methods('/v1/any/special', 'PUT'), common, 'DELETE belongs to the other table')
    t.equal(await methods('/v1/any/special', 'DELETE'), 'DELETE')
    t.equal(await methods('/v1/any/x', 'LIST'), 'DELETE, GET, HEAD, LIST, OPTIONS, PATCH, POST, PUT')
  })

  await t.test('each listed origin by itself, and every one with *', async (t) => {
    const allowed = async (path: string, origin: string) =>
      corsOf(await preflight(client, path, 'GET', { origin }))
    t.match(await allowed('/v1/items', 'https://b.example'), { 'allow-origin': 'https://b.example' })
    const open = await allowed('/open', 'https://anyone.example')
    t.equal(open['allow-origin'], '*')
    t.notOk('allow-credentials' in open)
  })

  await t.test('names of headers in any case, with blanks and on several lines', async (t) => {
    for (const headers of ['IF-MATCH', ' if-match ,\tspace', 'space,,if-match', ','])
      t.equal((await preflight(client, '/v1/items', 'GET', { headers })).status, 204, headers)
    const lines = { origin: APP, 'access-control-request-method': 'GET' }
    const many = { ...lines, 'access-control-request-headers': ['space', 'if-match'] }
    t.equal((await client.send('OPTIONS', '/v1/items', many)).status, 204)
  })

  await t.test('private networks are not opened', async (t) => {
    const headers = { origin: APP, 'access-control-request-method': 'GET' }
    for (const name of ['access-control-request-private-network', 'access-control-request-local-network']) {
      const answer = await client.send('OPTIONS', '/v1/items', { ...headers, [name]: 'true' })
      t.equal(answer.status, 204)
      t.same(
        Object.keys(corsOf(answer)).filter((each) => each.includes('network')),
        [],
      )
    }
  })

  await t.test('a body is read and dropped, and the connection goes on', async (t) => {
    const head = `OPTIONS /v1/items HTTP/1.1\r\nHost: a\r\nOrigin: ${APP}\r\nAccess-Control-Request-Method: GET\r\n`
    const next = 'GET /open HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const answers = await roundTrip(world.port, `${head}Content-Length: 5\r\n\r\nhello${next}`)
    t.match(answers, /^HTTP\/1\.1 204 [\s\S]*HTTP\/1\.1 200 /)
  })

  await t.test('one line of the log and one count for each', async (t) => {
    const world = await start(t)
    await preflight(world.client, '/v1/items/7', 'PUT')
    await preflight(world.client, '/v1/items/7', 'DELETE')
    await preflight(world.client, '/v1/items/7', 'PUT', { origin: 'https://evil.example' })
    await world.client.send('GET', '/v1/items')
    const requests = () => world.log().filter(({ msg }) => msg === 'request')
    await until(() => requests().length === 4, 'the lines of the log')
    const lines = requests()
    t.match(lines, [
      { preflight: true, method: 'OPTIONS', status: 204, code: 'allow', route: 'PUT /v1/items/{id}' },
      { preflight: true, status: 403, code: 'preflight_refused' },
      { preflight: true, status: 403, code: 'preflight_refused', route: 'PUT /v1/items/{id}' },
      { status: 401, code: 'credentials_missing', route: 'GET /v1/items' },
    ])
    for (const line of lines.slice(0, 3))
      for (const name of ['permission', 'tenant', 'upstream_ms', 'cause']) t.notOk(name in line, name)
    t.notOk('preflight' in (lines[3] ?? {}), 'no other line has the mark')
    const text = await metricsOf(world)
    t.match(text, 'seatgate_requests_total{route="PUT /v1/items/{id}",status="204"} 1\n')
    t.match(text, 'seatgate_decisions_total{code="preflight_refused"} 2\n')
    t.notMatch(world.logText(), 'evil.example', 'no value of a header is logged')
  })
})

t.test('refused', async (t) => {
  const before = upstream.seen.length
  const cases: readonly [string, string, string, { origin?: string; headers?: string }, RegExp][] = [
    ['an origin that is not listed', '/v1/items', 'GET', { origin: 'https://evil.example' }, /the origin/],
    ['Origin: null', '/v1/items', 'GET', { origin: 'null' }, /the origin/],
    ['Origin: null, with *', '/open', 'GET', { origin: 'null' }, /the origin/],
    ['an empty origin', '/v1/items', 'GET', { origin: '' }, /the origin/],
    ['a method without an entry', '/v1/items', 'DELETE', {}, /the requested method/],
    ['a method of a table without cors', '/v1/items/7', 'POST', {}, /the requested method/],
    ['a method that is not served', '/v1/any/x', 'PURGE', {}, /the requested method/],
    ['TRACE', '/v1/any/x', 'TRACE', {}, /the requested method/],
    ['CONNECT', '/v1/any/x', 'CONNECT', {}, /the requested method/],
    ['a method in lower case', '/v1/any/x', 'put', {}, /the requested method/],
    ['no method', '/v1/any/x', '', {}, /the requested method/],
    ['two methods in one line', '/v1/any/x', 'PUT, GET', {}, /the requested method/],
    ['a header that is not listed', '/v1/items', 'GET', { headers: 'space,x-evil' }, /the header x-evil\./],
    ['a header *', '/v1/items', 'GET', { headers: '*' }, /the header that is requested\./],
    ['a header of a table with *', '/open', 'GET', { headers: 'if-match' }, /the header if-match\./],
  ]
  for (const [what, path, method, more, detail] of cases) {
    const answer = await preflight(client, path, method, more)
    t.match(answer.json, { status: 403, code: 'preflight_refused', detail }, what)
    t.same(corsOf(answer), {}, what)
    t.equal(answer.headers.vary, VARY, what)
  }
  t.equal(upstream.seen.length, before, 'the upstream receives none of them')
})

t.test('what two parsers could read differently is refused', async (t) => {
  const before = upstream.seen.length
  for (const [origin, method] of [
    [[APP, 'https://evil.example'], 'GET'],
    [[APP, APP], 'GET'],
    [APP, ['GET', 'PUT']],
  ] as const) {
    const headers = { origin, 'access-control-request-method': method } as Record<string, string | string[]>
    const answer = await client.send('OPTIONS', '/v1/items', headers)
    t.match(answer.json, { status: 400, code: 'request_malformed' }, JSON.stringify([origin, method]))
    t.same(corsOf(answer), {})
  }
  for (const path of ['/v1/items/a%2Fb', '/v1//items', '/v1/items/..', '/v1/%69tems/%5c'])
    t.match((await preflight(client, path, 'PUT')).json, { status: 400, code: 'path_ambiguous' }, path)
  t.equal((await preflight(client, '/v1/%69tems', 'GET')).status, 204, 'the path is the normalised one')
  t.equal((await preflight(client, '/v1/items/a;b', 'PUT')).status, 204, 'as the upstream of the entry says')
  t.equal(upstream.seen.length, before)
})

t.test('a semicolon that the upstream does not take', async (t) => {
  const world = await startWorld(t)
  await useTables(world, { main: { cors: `{ origins: [${APP}] }`, routes: ['PUT /a/{id}: public'] } })
  t.match((await preflight(world.client, '/a/b;c', 'PUT')).json, { code: 'path_ambiguous' })
})

t.test('tables without cors answer as before', async (t) => {
  t.equal((await preflight(client, '/plain/x', 'PUT')).status, 200, 'the upstream answers')
  t.equal(upstream.seen.at(-1)?.headers['access-control-request-method'], 'PUT')
  t.equal(upstream.seen.at(-1)?.headers.origin, APP)
  t.match((await preflight(client, '/v1/lone', 'GET')).json, { code: 'method_not_allowed' })
  t.match((await preflight(client, '/nowhere', 'GET')).json, { code: 'route_not_found' })
  t.match((await preflight(client, '/v1/shared', 'PUT')).json, { code: 'method_not_allowed' })
})

t.test('built-in endpoints have no policy', async (t) => {
  for (const path of ['/v1/seats', '/auth/oidc/login']) {
    const answer = await preflight(client, path, 'POST')
    t.notMatch(answer.status, 204, path)
    t.same(corsOf(answer), {}, path)
  }
})

t.test('a reload changes the policy', async (t) => {
  const routes = ['GET /v1/items: items:list']
  await useTables(world, { main: { cors: '{ origins: ["https://c.example"] }', routes } })
  t.equal((await preflight(world.client, '/v1/items', 'GET')).status, 403)
  t.equal((await preflight(world.client, '/v1/items', 'GET', { origin: 'https://c.example' })).status, 204)
})
