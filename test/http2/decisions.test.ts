/** Requests of HTTP/2 are decided as those of HTTP/1.1: status codes, paths, credentials in fields of their own. */

import t from 'tap'
import { GET, type Fields, POST } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'
import { ask, openRaw, openSession, startSecured } from './support.ts'
import { metricsOf } from '../support/operations.ts'

const world = await startSecured(t, {
  top: ['limits: { header_bytes: 8KiB }'],
  routes: [
    'GET /v1/trainings: trainings:list',
    'POST /v1/trainings: trainings:create',
    'GET /v1/trainings/{id}: trainings:read',
    'DELETE /v1/trainings/{id}: trainings:delete',
    'GET /docs/*: public',
    'POST /small: { permission: public, max_body: 1KiB }',
    'GET /status/*: public',
    'HEAD /status/*: public',
  ],
  answer: (request, response) => {
    const status = Number(/^\/status\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 200)
    const hasBody = status === 200
    response.writeHead(status, hasBody ? { 'content-length': '5' } : {})
    response.end(request.method === 'HEAD' || !hasBody ? undefined : 'hello')
  },
})
await world.seat('Clerk', ['s1'], ['trainings:list', 'trainings:create'])
const bearer = `Bearer ${await world.token(['s1:Clerk'])}`
const session = openSession(t, world.securePort)

const as = (more: Record<string, string | string[]> = {}) => ({ authorization: bearer, space: 's1', ...more })

t.test('status codes and codes of errors', async (t) => {
  const cases: [number, string | null, Record<string, string | string[]>][] = [
    [200, null, as({ ':path': '/v1/trainings' })],
    [200, null, { ':path': '/docs/a' }],
    [401, 'credentials_missing', { ':path': '/v1/trainings' }],
    [401, 'token_invalid', as({ ':path': '/v1/trainings', authorization: 'Bearer x.y.z' })],
    [403, 'permission_denied', as({ ':path': '/v1/trainings/7', ':method': 'DELETE' })],
    [403, 'no_seat_in_space', as({ ':path': '/v1/trainings', space: 's2' })],
    [404, 'route_not_found', as({ ':path': '/nowhere' })],
    [405, 'method_not_allowed', as({ ':path': '/v1/trainings', ':method': 'PATCH' })],
    [400, 'path_ambiguous', as({ ':path': '/v1/x/../trainings' })],
    [400, 'path_ambiguous', as({ ':path': '/v1//trainings' })],
    [400, 'path_ambiguous', as({ ':path': '/v1/%2e%2e/trainings' })],
    [400, 'path_ambiguous', as({ ':path': '/docs/a%2fb' })],
    [414, 'uri_too_long', { ':path': `/docs/${'x'.repeat(9000)}` }],
    [414, 'uri_too_long', { ':path': `/docs/${'x'.repeat(30_000)}` }],
    [431, 'headers_too_large', { ':path': '/docs/a', 'x-long': 'x'.repeat(9000) }],
    [400, 'space_required', { ':path': '/v1/trainings', authorization: bearer }],
    [400, 'request_malformed', { ':path': '/docs/a', expect: '200-ok' }],
  ]
  for (const [status, code, headers] of cases) {
    const answer = await ask(session, headers)
    t.equal(answer.status, status, `${headers[':path']}`.slice(0, 40))
    if (code !== null) t.match(JSON.parse(answer.body), { code, status })
  }
})

t.test('each answer is that of HTTP/1.1', async (t) => {
  for (const [method, path] of [
    ['GET', '/v1/trainings'],
    ['DELETE', '/v1/trainings/7'],
    ['GET', '/nowhere'],
    ['PATCH', '/v1/trainings'],
    ['GET', '/docs/a?b=c'],
    ['OPTIONS', '*'],
  ] as const) {
    const one = await world.client.send(method, path, as())
    const two = await ask(session, as({ ':method': method, ':path': path }))
    t.equal(two.status, one.status, `${method} ${path}`)
    const names = (headers: object) =>
      Object.keys(headers).filter((name) => !/^(?::|connection$|keep-alive$|transfer-encoding$)/.test(name))
    t.same(names(two.headers).sort(), names(one.headers).sort(), `${method} ${path}`)
  }
})

t.test('duplicate credentials are refused', async (t) => {
  const client = await openRaw(t, world.securePort)
  const path: Fields = GET.map(([name, value]) => [name, name === ':path' ? '/v1/trainings' : value])
  const key: [string, string] = ['x-api-key', world.keys['acme'] ?? '']
  const token: [string, string] = ['authorization', bearer]
  const space: [string, string] = ['space', 's1']
  const cases: [number, Fields][] = [
    [200, [...path, token, space]],
    [400, [...path, key, key, space]],
    [400, [...path, token, token, space]],
    [400, [...path, token, space, space]],
    [400, [...path, token, space, ['space', 's2']]],
  ]
  for (const [i, [status, fields]] of cases.entries()) {
    client.headers(2 * i + 1, fields)
    t.equal(await client.status(2 * i + 1), status)
  }
})

t.test('413, whether the length is announced or not', async (t) => {
  const before = world.upstream.seen.length
  const post = { ':method': 'POST', ':path': '/small' }
  t.equal((await ask(session, post, Buffer.alloc(1024))).status, 200)
  t.equal((await ask(session, post, Buffer.alloc(1025))).status, 413)
  t.equal((await ask(session, { ...post, 'content-length': '1025' }, Buffer.alloc(1025))).status, 413)
  t.equal(world.upstream.seen.length - before, 1)
})

t.test('what the upstream learns', async (t) => {
  const client = await openRaw(t, world.securePort)
  client.headers(1, [
    ...GET.slice(0, 3),
    [':path', '/docs/a?q=1'],
    ['cookie', 'a=1'],
    ['x-forwarded-proto', 'http'],
    ['x-seatgate-user', 'root'],
    ['te', 'trailers'],
    ['cookie', 'b=2'],
  ])
  t.equal(await client.status(1), 200)
  const { headers, url } = world.upstream.seen.at(-1) ?? {}
  t.equal(url, '/docs/a?q=1')
  t.match(headers, { cookie: 'a=1; b=2', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.example' })
  t.equal(headers?.['x-seatgate-user'], undefined)
  t.equal(headers?.te, undefined)
})

t.test('built-in endpoints', async (t) => {
  const headers = {
    'x-api-key': world.keys['acme'] ?? '',
    space: 'admin',
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ name: 'Second', spaces: ['s2'], permissions: ['trainings:list'] })
  const made = await ask(session, { ...headers, ':method': 'POST', ':path': '/v1/seats' }, body)
  t.equal(made.status, 200, made.body)
  t.equal((await ask(session, { ...headers, ':path': '/v1/seats' })).status, 200)
})

t.test('HEAD, 204 and 304 have no body', async (t) => {
  const head = await ask(session, { ':method': 'HEAD', ':path': '/status/200' })
  t.match(head, { status: 200, body: '', headers: { 'content-length': '5' }, code: 0 })
  for (const status of [204, 304])
    t.match(await ask(session, { ':path': `/status/${status}` }), { status, body: '', code: 0 })
})

t.test('a refused request with a body: the whole refusal, then RST_STREAM with NO_ERROR', async (t) => {
  const client = await openRaw(t, world.securePort)
  const fields: Fields = [
    ...POST.map(([name, value]) => [name, name === ':path' ? '/v1/trainings' : value] as const),
    ['content-length', '100000000'],
  ]
  client.headers(1, fields, 0)
  t.equal(await client.status(1), 401)
  t.equal(await client.reset(1), 0)
  const at = client.received.findIndex(
    ({ stream, flags, type }) => stream === 1 && type === 0 && (flags & 1) === 1,
  )
  t.ok(at >= 0 && at < client.received.findIndex(({ type }) => type === 3))
})

t.test('access log and metrics', async (t) => {
  t.equal((await ask(session, as({ ':path': '/v1/trainings' }))).status, 200)
  const last = () => world.log().findLast(({ path }) => path === '/v1/trainings')
  // A line follows its response.
  await until(() => last()?.['status'] === 200, 'the line of the log')
  t.match(last(), { method: 'GET', tenant: 'acme', space: 's1' })
  const metrics = await metricsOf(world)
  t.match(metrics, /seatgate_tls_handshakes_total\{[^}]*\} [1-9]/)
})
