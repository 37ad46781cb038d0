/** Each dialect reads its own fields, and refuses what could be read in another way. */

import t from 'tap'
import { forwardFields, nginxFields, startAsking } from './support.ts'
import { until } from '../support/until.ts'
import { metricsOf } from '../support/operations.ts'

const { ask, key, keyId, world } = await startAsking(t)

t.test('each dialect answers as the gateway does', async (t) => {
  const caller = { 'x-api-key': key, space: 'main' }
  const questions: [method: string, path: string, fields: Record<string, string>][] = [
    ['GET', '/v1/trainings/7?a=b', caller],
    ['DELETE', '/v1/trainings/7', caller],
    ['GET', '/v1/trainings/7', {}],
    ['GET', '/v1/trainings/7', { 'x-api-key': key }],
    ['GET', '/v1/trainings/7', { ...caller, space: 'other' }],
    ['GET', '/v1/trainings/7', { ...caller, 'x-api-key': 'sk_wrong' }],
    ['GET', '/v1/trainings/7', { ...caller, authorization: 'Bearer wrong' }],
    ['GET', '/v1/trainings/7', { authorization: 'Bearer a, Bearer b', space: 'main' }],
    ['GET', '/docs/index.html', {}],
    ['GET', '/v1/me', caller],
    ['GET', '/v1/seats', caller],
    ['PATCH', '/v1/trainings/7', caller],
    ['GET', '/v1//trainings', caller],
    ['GET', '/v1/trainings/../files/a', caller],
    ['GET', '/v1/trainings/%2e%2e', caller],
    ['GET', '/v1/trainings/a%2Fb', caller],
    ['GET', '/v1/trainings/%7a', caller],
    ['GET', '/nowhere', caller],
    ['BREW', '/v1/trainings/7', caller],
  ]
  for (const [method, path, fields] of questions) {
    const direct = await world.client.send(method, path, fields)
    const answers = [
      await ask('/auth/nginx', { ...fields, ...nginxFields(method, path) }),
      await ask('/auth/forward?any=query', { ...fields, ...forwardFields(method, path) }),
      await ask(`/auth/envoy${path}`, fields, method),
    ]
    const name = `${method} ${path} ${Object.keys(fields)}`
    for (const { status, body } of answers) {
      t.equal(status, direct.status, name)
      if (status !== 200) t.equal(JSON.parse(body).code, direct.json.code, name)
      else t.equal(body, '')
    }
  }
})

t.test('a public route has an empty identity, whatever the client claims', async (t) => {
  const answer = await ask('/auth/nginx', {
    ...nginxFields('GET', '/docs/a'),
    'x-api-key': key,
    'x-seatgate-user': 'root',
    x_seatgate_tenant: 'globex',
  })
  t.equal(answer.status, 200)
  for (const name of ['tenant', 'user', 'email', 'space', 'seats', 'permission', 'auth'])
    t.equal(answer.headers[`x-seatgate-${name}`], '', name)
  t.type(answer.headers['x-request-id'], 'string')
})

const NGINX = nginxFields('GET', '/docs/a')
const FORWARD = forwardFields('GET', '/docs/a')

const refused: [name: string, path: string, headers: Record<string, string> | string[]][] = [
  ['no fields', '/auth/nginx', {}],
  ['no method', '/auth/nginx', { 'x-original-url': 'https://a/docs/a' }],
  ['no URL', '/auth/nginx', { 'x-original-method': 'GET' }],
  ['an empty method', '/auth/nginx', { ...NGINX, 'x-original-method': '' }],
  ['no token', '/auth/nginx', { ...NGINX, 'x-original-method': 'G T' }],
  ['CONNECT', '/auth/nginx', { ...NGINX, 'x-original-method': 'CONNECT' }],
  ['no URL but a path', '/auth/nginx', { ...NGINX, 'x-original-url': '/docs/a' }],
  ['no path', '/auth/nginx', { ...NGINX, 'x-original-url': 'https://a' }],
  ['a user in the URL', '/auth/nginx', { ...NGINX, 'x-original-url': 'https://b@a/docs/a' }],
  ['another scheme', '/auth/nginx', { ...NGINX, 'x-original-url': 'ftp://a/docs/a' }],
  ['a space in the URL', '/auth/nginx', { ...NGINX, 'x-original-url': 'https://a/docs/a b' }],
  ['no host', '/auth/nginx', { ...NGINX, 'x-original-url': 'https:///docs/a' }],
  ['a bad host', '/auth/nginx', { ...NGINX, 'x-original-url': 'https://a,b/docs/a' }],
  [
    'two methods',
    '/auth/nginx',
    Object.entries({ ...NGINX })
      .flat()
      .concat('x-original-method', 'GET'),
  ],
  [
    'two URLs',
    '/auth/nginx',
    Object.entries({ ...NGINX })
      .flat()
      .concat('x-original-url', 'https://a/docs/a'),
  ],
  [
    'an empty method and another',
    '/auth/nginx',
    ['x-original-method', '', ...Object.entries({ ...NGINX }).flat()],
  ],
  ['another spelling', '/auth/nginx', { ...NGINX, X_Original_Method: 'GET' }],
  ['x-original-uri', '/auth/nginx', { ...NGINX, 'x-original-uri': '/docs/a' }],
  ['X_Original_URI', '/auth/nginx', { ...NGINX, X_Original_URI: '/docs/a' }],
  ['x-forwarded-method', '/auth/nginx', { ...NGINX, 'x-forwarded-method': 'GET' }],
  ['x-forwarded-uri', '/auth/nginx', { ...NGINX, 'X-Forwarded-URI': '/docs/a' }],
  ['X_Forwarded_Uri', '/auth/nginx', { ...NGINX, X_Forwarded_Uri: '/docs/a' }],
  ['no fields', '/auth/forward', {}],
  ['no proto', '/auth/forward', without(FORWARD, 'x-forwarded-proto')],
  ['no host', '/auth/forward', without(FORWARD, 'x-forwarded-host')],
  ['no URI', '/auth/forward', without(FORWARD, 'x-forwarded-uri')],
  ['another scheme', '/auth/forward', { ...FORWARD, 'x-forwarded-proto': 'https, http' }],
  ['a list of hosts', '/auth/forward', { ...FORWARD, 'x-forwarded-host': 'a, b' }],
  ['a URL', '/auth/forward', { ...FORWARD, 'x-forwarded-uri': 'https://a/docs/a' }],
  [
    'two URIs',
    '/auth/forward',
    Object.entries({ ...FORWARD })
      .flat()
      .concat('x-forwarded-uri', '/docs/b'),
  ],
  ['another spelling', '/auth/forward', { ...FORWARD, X_Forwarded_Host: 'a' }],
  ['x-original-url', '/auth/forward', { ...FORWARD, 'x-original-url': 'https://a/docs/a' }],
  ['x-original-method', '/auth/forward', { ...FORWARD, 'x-original-method': 'GET' }],
  ['x-original-uri', '/auth/forward', { ...FORWARD, 'x-original-uri': '/docs/a' }],
  ['X.Original.URL', '/auth/forward', { ...FORWARD, 'X.Original.URL': 'https://a/docs/a' }],
  ['x-original-url', '/auth/envoy/docs/a', { 'x-original-url': 'https://a/docs/a' }],
  ['x-forwarded-uri', '/auth/envoy/docs/a', { 'x-forwarded-uri': '/docs/a' }],
  ['x_forwarded_method', '/auth/envoy/docs/a', { x_forwarded_method: 'GET' }],
]

function without(fields: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name))
}

t.test('refuses a question with', async (t) => {
  for (const [name, path, headers] of refused) {
    const answer = await ask(path, headers)
    t.equal(answer.status, 400, `${path}: ${name}`)
    t.equal(answer.json.code, 'request_malformed', `${path}: ${name}`)
  }
  t.equal((await ask('/auth/nginx', NGINX)).status, 200, 'the listener still answers')
})

t.test('has no other paths', async (t) => {
  for (const path of ['/', '/auth/nginx/', '/auth/nginxa', '/auth', '/auth/envoy', '/docs/a', '/v2/seats'])
    t.equal((await ask(path, NGINX)).status, 404, path)
  t.equal((await ask('/auth/envoy//docs/a', {})).json.code, 'path_ambiguous')
})

t.test('logs and counts a question as a request', async (t) => {
  const fields = {
    ...nginxFields('GET', '/v1/trainings/7?secret=1', 'API.example.com:8443'),
    'x-api-key': key,
  }
  const forwarded = world.upstream.seen.length
  await ask('/auth/nginx', { ...fields, space: 'main', 'x-forwarded-for': '198.51.100.9, 203.0.113.7' })
  const line = () => world.log().findLast((each) => 'asked_by' in each && each['client'] === '203.0.113.7')
  await until(() => line() !== undefined, 'the line of the log')
  t.match(line(), {
    asked_by: 'nginx',
    asked_from: '127.0.0.1',
    client: '203.0.113.7',
    method: 'GET',
    path: '/v1/trainings/7',
    host: 'api.example.com',
    status: 200,
    code: 'allow',
    user: keyId,
    permission: 'trainings:read',
  })
  const metrics = await metricsOf(world)
  t.match(metrics, /seatgate_requests_total\{[^}]*route="GET \/v1\/trainings\/\{id\}"[^}]*\} \d/)
  t.equal(world.upstream.seen.length, forwarded, 'nothing was forwarded')
})

t.test('the log counts the bytes of an answer', async (t) => {
  const bytesOf = async (client: string, method: string) => {
    const fields = { ...nginxFields('GET', '/v1/trainings/7'), 'x-forwarded-for': client }
    const { body } = await ask('/auth/nginx', fields, method)
    const line = () => world.log().findLast((each) => each['client'] === client)
    await until(() => line() !== undefined, 'the line of the log')
    return { logged: line()?.['bytes_out'], sent: Buffer.byteLength(body) }
  }
  const refused = await bytesOf('203.0.113.71', 'GET')
  t.ok(refused.sent > 0)
  t.equal(refused.logged, refused.sent)
  t.same(await bytesOf('203.0.113.72', 'HEAD'), { logged: 0, sent: 0 })
})

/** The names that the answer has Envoy remove. */
function removedBy({ headers }: { readonly headers: object }): string[] {
  const names = Reflect.get(headers, 'x-envoy-auth-headers-to-remove')
  return typeof names === 'string' ? names.split(', ') : []
}

t.test('a scheme has no case', async (t) => {
  for (const scheme of ['HTTPS', 'Http', 'WSS'])
    t.equal((await ask('/auth/forward', { ...FORWARD, 'x-forwarded-proto': scheme })).status, 200)
  t.equal((await ask('/auth/nginx', { ...NGINX, 'x-original-url': 'HTTPS://a/docs/a' })).status, 200)
})

t.test('Envoy removes the credentials of the gateway, and overwrites the cookies', async (t) => {
  const caller = { 'x-api-key': key, space: 'main' }
  const plain = await ask('/auth/envoy/v1/trainings/7', caller)
  t.same(removedBy(plain).slice(0, 2), ['x-api-key', 'authorization'])
  t.notOk('cookie' in plain.headers)
  const both = await ask('/auth/envoy/v1/trainings/7', {
    ...caller,
    cookie: 'a=1; __Host-seatgate_session=x; b=2',
  })
  t.equal(both.status, 200)
  t.equal(both.headers['cookie' as string], 'a=1; b=2')
  t.notOk(removedBy(both).includes('cookie'), 'Envoy removes after it sets')
  const session = await ask('/auth/envoy/v1/trainings/7', { ...caller, cookie: '__Host-seatgate_session=x' })
  t.ok(removedBy(session).includes('cookie'))
})

t.test('Envoy removes what replaces path or method, unless the upstream has pass_overrides', async (t) => {
  const names = ['x-http-method-override', 'x-rewrite-url', 'x-original-url', 'x-method-override']
  const removed = removedBy(await ask('/auth/envoy/docs/a', {}))
  for (const name of names) t.ok(removed.includes(name), name)
  const passing = await startAsking(t, { upstream: ['pass_overrides: true'] })
  t.same(removedBy(await passing.ask('/auth/envoy/docs/a', {})), ['x-api-key', 'authorization'])
})

t.test(
  'nginx, Traefik and HAProxy get the cookies without the session, to replace those of the client',
  async (t) => {
    const questions: [path: string, fields: Record<string, string>][] = [
      ['/auth/nginx', nginxFields('GET', '/docs/a')],
      ['/auth/forward', forwardFields('GET', '/docs/a')],
    ]
    for (const [path, fields] of questions) {
      const cookieOf = async (cookie: Record<string, string>) =>
        Reflect.get((await ask(path, { ...fields, ...cookie })).headers, 'cookie')
      t.equal(await cookieOf({ cookie: 'a=1; __Host-seatgate_session=x; b=2' }), 'a=1; b=2')
      t.equal(await cookieOf({ cookie: 'a=1' }), 'a=1', 'Traefik removes a Cookie that the answer lacks')
      t.equal(await cookieOf({ cookie: '__Host-seatgate_session=x' }), undefined)
      t.equal(await cookieOf({}), undefined)
    }
  },
)
