/**
 * CSRF at the gateway's own endpoints: a page of another origin sends a change with the session cookie of its visitor. The
 * refusal comes before any other, so that the page learns nothing either.
 */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { builtInOperations } from '../../src/composition.ts'
import { startSignIn } from '../sign-in/world.ts'

const UNKNOWN = '01KAJ0Z1V5Q8T2C0W7M3E9R4XD'
const JSON_BODY = { 'content-type': 'application/json', space: 'admin' }

const world = await startSignIn(t)
const { gateway, origin } = world
const seat = await gateway.seat('Admins', ['admin'], ['*'])
world.user('alice', { memberOf: ['Admins'] })
const alice = world.visitor('alice')
await alice.page('/pages/home')
const own = alice.cookies(origin).get(SESSION_COOKIE) ?? ''
const { port } = new URL(origin)

const send = (method: string, path: string, headers: Record<string, string>, body?: string) =>
  gateway.client.send(method, path, { cookie: `${SESSION_COOKIE}=${own}`, ...headers }, body)

/** What browsers send with requests of other pages, and what their scripts cannot send. */
const FOREIGN: Record<string, string>[] = [
  {},
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: '' },
  { origin: `${origin}/` },
  { origin: `https://127.0.0.1:${port}` },
  { origin: `http://127.0.0.1:${Number(port) + 1}` },
  { origin: 'http://127.0.0.1' },
  { origin: `http://localhost:${port}` },
  { origin: `http://127.0.0.1:${port}.evil.example` },
  { origin: `${origin}, https://evil.example` },
  { origin: origin.toUpperCase() },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { 'sec-fetch-site': 'same-origin', referer: `${origin}/pages/home` },
  { origin, 'sec-fetch-site': 'cross-site' },
  { origin, 'sec-fetch-site': 'same-site' },
  { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  // Neither the name in the request nor what a proxy says of it is our own.
  { origin: 'http://evil.example', host: 'evil.example' },
  { origin: 'https://evil.example', host: 'evil.example', 'x-forwarded-proto': 'https' },
  { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
  { origin: 'https://evil.example', forwarded: 'host=evil.example;proto=https' },
]

t.test('a change of another page, and of no page', async (t) => {
  for (const headers of FOREIGN) {
    const body = JSON.stringify({ name: 'Evil', spaces: ['admin'], permissions: ['*'] })
    const answer = await send('POST', '/v1/seats', { ...JSON_BODY, ...headers }, body)
    t.match(answer.json, { status: 403, code: 'origin_refused' }, JSON.stringify(headers))
    t.equal(answer.headers['access-control-allow-origin'], undefined)
  }
  const { data } = (await gateway.admin('GET', '/v1/seats')).json
  t.notOk(data.some(({ name }: { name: string }) => name === 'Evil'))
  const repeated = await gateway.client.send(
    'POST',
    '/v1/seats',
    { ...JSON_BODY, cookie: `${SESSION_COOKIE}=${own}`, origin: [origin, origin] as never },
    '{}',
  )
  t.match(repeated.json, { status: 403, code: 'origin_refused' }, 'Origin twice')
})

t.test('every endpoint that may change something', async (t) => {
  const changing = builtInOperations().filter(
    ({ method, requirement }) => method !== 'GET' && requirement !== 'public',
  )
  t.ok(changing.length > 8)
  for (const { method, path } of changing) {
    const target = path.replaceAll(/\{[^}]+\}/g, UNKNOWN)
    const answer = await send(method, target, { ...JSON_BODY, origin: 'https://evil.example' }, '{}')
    t.match(answer.json, { status: 403, code: 'origin_refused' }, `${method} ${path}`)
    const allowed = await send(method, target, { ...JSON_BODY, origin }, '{}')
    t.not(allowed.json?.code, 'origin_refused', `${method} ${path} from our own page`)
    t.not(allowed.status, 401)
  }
})

t.test('it comes before every other refusal', async (t) => {
  const evil = { origin: 'https://evil.example' }
  const code = async (headers: Record<string, string>, body = '{}', path = `/v1/seats/${seat}`) =>
    (await send('PUT', path, headers, body)).json.code
  const json = { 'content-type': 'application/json' }
  t.equal(await code({ ...evil, ...json }), 'origin_refused', 'no Space')
  t.equal(await code({ ...evil, ...json, space: 'elsewhere' }), 'origin_refused', 'no Seat there')
  t.equal(await code({ ...evil, ...JSON_BODY }, '{'), 'origin_refused', 'a body that is no JSON')
  t.equal(await code({ ...evil, space: 'admin' }, 'x'), 'origin_refused', 'a body of no type')
  t.equal(await code({ ...evil, ...JSON_BODY, 'if-match': 'x' }), 'origin_refused')
  t.equal(await code({ ...evil, ...JSON_BODY }, '{}', `/v1/seats/${UNKNOWN}`), 'origin_refused')
  t.equal(
    await code({ ...evil, ...JSON_BODY }, 'x'.repeat(1024 * 1024 + 1)),
    'origin_refused',
    'a large body',
  )
  for (const cookie of ['x', `acme.${'A'.repeat(22)}.${'A'.repeat(43)}`, `nobody.${'A'.repeat(22)}.x`, ''])
    t.equal(
      await code({ ...evil, ...JSON_BODY, cookie: `${SESSION_COOKIE}=${cookie}` }),
      'origin_refused',
      `an invalid session ${cookie}`,
    )
  await gateway.admin('POST', '/v1/blocks', { user: 'alice' })
  t.equal(await code({ ...evil, ...JSON_BODY }), 'origin_refused', 'a blocked user')
  t.equal(await code({ origin, ...JSON_BODY }), 'caller_blocked')
  const [block] = (await gateway.admin('GET', '/v1/blocks')).json.data
  await gateway.admin('DELETE', `/v1/blocks/${block.id}`)
})

t.test('a malformed request is refused for that', async (t) => {
  const evil = { origin: 'https://evil.example', ...JSON_BODY }
  const code = async (headers: Record<string, string>, path = `/v1/seats/${seat}`) =>
    (await send('PUT', path, headers, '{}')).json.code
  t.equal(await code({ ...evil, space: 'a,b' }), 'request_malformed')
  t.equal(await code({ ...evil, space: '-' }), 'request_malformed')
  t.equal(await code(evil, '/v1/seats/..'), 'path_ambiguous')
  t.equal(await code({ ...evil, authorization: 'Bearer a, Bearer b' }), 'credentials_ambiguous')
  const twice = `${SESSION_COOKIE}=${own}; ${SESSION_COOKIE}=${own}`
  t.equal(await code({ ...evil, cookie: twice }), 'credentials_ambiguous')
})

t.test('our own page changes and reads; other pages read nothing that they could not before', async (t) => {
  for (const headers of [{ origin }, { origin, 'sec-fetch-site': 'same-origin' }] as Record<
    string,
    string
  >[]) {
    const answer = await send('PUT', `/v1/seats/${seat}`, { ...JSON_BODY, ...headers }, '{}')
    t.equal(answer.status, 200, JSON.stringify(headers))
  }
  t.equal((await send('GET', '/v1/seats', { space: 'admin' })).status, 200, 'a read needs no Origin')
  const unknown = await send(
    'PUT',
    `/v1/seats/${seat}`,
    { ...JSON_BODY, origin, cookie: `${SESSION_COOKIE}=x` },
    '{}',
  )
  t.match(unknown.json, { status: 401, code: 'token_invalid' }, 'from our own page, the session is checked')
})

t.test('an API key or a token decides, and a cookie beside it does not', async (t) => {
  const key = { 'x-api-key': gateway.keys['acme'] ?? '' }
  const token = { authorization: `Bearer ${await gateway.token(['admin:Admins'])}` }
  const evil = { ...JSON_BODY, origin: 'https://evil.example' }
  for (const credential of [key, token] as Record<string, string>[])
    t.equal((await send('PUT', `/v1/seats/${seat}`, { ...evil, ...credential }, '{}')).status, 200)
  const invalid = await send('PUT', `/v1/seats/${seat}`, { ...evil, 'x-api-key': 'sk_x' }, '{}')
  t.equal(invalid.json.code, 'api_key_invalid', 'no credential falls through to the cookie')
  const basic = { ...evil, authorization: 'Basic YTpi' }
  t.equal(
    (await send('PUT', `/v1/seats/${seat}`, basic, '{}')).json.code,
    'origin_refused',
    'of another scheme',
  )
  const none = await gateway.client.send('PUT', `/v1/seats/${seat}`, evil, '{}')
  t.equal(none.json.code, 'credentials_missing', 'no cookie')
})

t.test('routes of the tables are not concerned', async (t) => {
  const answer = await send('POST', '/v1/me', { origin: 'https://evil.example' })
  t.match(answer.json, { status: 401, code: 'credentials_missing' })
  t.equal((await send('POST', '/v1/me', { 'sec-fetch-site': 'same-origin' })).status, 200)
})

t.test('the sign-out too, and it needs no body', async (t) => {
  for (const headers of FOREIGN) {
    const answer = await send('POST', '/auth/oidc/logout', headers)
    t.match(answer.json, { status: 403, code: 'origin_refused' }, JSON.stringify(headers))
    t.equal(answer.headers['set-cookie'], undefined)
  }
  t.match((await send('GET', '/auth/oidc/me', {})).json, {
    tenant: 'acme',
    user: 'alice',
    auth: 'session',
    admin_space: 'admin',
  })
  const out = await send('POST', '/auth/oidc/logout', { origin })
  t.match(out.json, { logged_out: true })
  t.match(out.headers['set-cookie'], [/Max-Age=0/])
  const after = await send('GET', '/auth/oidc/me', { accept: 'application/json' })
  t.match(after.json, { status: 401, code: 'token_invalid' })
  t.equal(after.headers.location, undefined)
})
