/**
 * CSRF through CORS: a page of another origin makes its visitor's browser send the session cookie. SameSite=Lax keeps the
 * cookie out of requests of other sites, not of other origins of the same site: a page on a forgotten subdomain, or one that
 * a customer writes. Only origins that the table of the route lists with credentials act for the user.
 */

import t from 'tap'
import { corsOf, preflight, useTables } from '../support/cors.ts'
import { startSignIn } from '../sign-in/world.ts'

const APP = 'https://app.example'
const OTHER = 'https://other.example'

const world = await startSignIn(t)
world.user('alice')
const { gateway } = world
await useTables(gateway, {
  main: {
    cors: `{ origins: [${APP}], credentials: true }`,
    routes: ['ANY /v1/me: authenticated', 'GET /pages/*: { permission: authenticated, sign_in: acme }'],
  },
  other: { cors: `{ origins: [${OTHER}], credentials: true }`, routes: ['ANY /other: authenticated'] },
  bare: { cors: `{ origins: [${APP}] }`, routes: ['ANY /bare: authenticated'] },
  open: { cors: '{ origins: ["*"] }', routes: ['ANY /open: authenticated'] },
  plain: { cors: '', routes: ['ANY /plain: authenticated'] },
})
const visitor = world.visitor()
await visitor.page('/pages/a')

type Fields = Record<string, string>
const ask = (method: string, path: string, headers: Fields) => visitor.ask(path, { method, headers })
const UPGRADE = {
  connection: 'upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

t.test('a listed origin acts for the user, on routes of its table', async (t) => {
  for (const headers of [{ origin: APP }, { origin: APP, 'sec-fetch-site': 'same-site' }] as Fields[])
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const page = await ask(method, '/v1/me', headers)
      t.equal(page.status, 200, `${method} ${JSON.stringify(headers)}`)
      t.equal(page.headers['access-control-allow-credentials'], 'true')
    }
  t.equal((await ask('POST', '/other', { origin: OTHER })).status, 200)
  t.equal(gateway.upstream.seen.at(-1)?.headers['x-seatgate-user'], 'alice')
  t.equal((await ask('POST', '/v1/me', { origin: world.origin })).status, 200, 'and our own as before')
})

t.test('no other page does', async (t) => {
  const before = gateway.upstream.seen.length
  const cases: readonly (readonly [string, string, Fields])[] = [
    ['an origin that is not listed', '/v1/me', { origin: 'https://evil.example' }],
    [
      'another subdomain of the same site',
      '/v1/me',
      { origin: 'https://x.app.example', 'sec-fetch-site': 'same-site' },
    ],
    ['another port', '/v1/me', { origin: `${APP}:8443` }],
    ['another scheme', '/v1/me', { origin: 'http://app.example' }],
    ['an origin that another table lists', '/v1/me', { origin: OTHER }],
    ['an origin that another table lists', '/other', { origin: APP }],
    ['a table without credentials', '/bare', { origin: APP }],
    ['a table with *', '/open', { origin: APP }],
    ['the text *', '/open', { origin: '*' }],
    ['a table without cors', '/plain', { origin: APP }],
    ['a sandboxed page', '/v1/me', { origin: 'null' }],
    ['a sandboxed page', '/open', { origin: 'null' }],
    ['no origin', '/v1/me', {}],
    ['no origin, on the same site', '/v1/me', { 'sec-fetch-site': 'same-site' }],
    [
      'a page of another site that a redirect leads by',
      '/v1/me',
      { origin: APP, 'sec-fetch-site': 'cross-site' },
    ],
    ['a contradiction', '/v1/me', { origin: APP, 'sec-fetch-site': 'same-origin' }],
    ['a contradiction', '/v1/me', { origin: APP, 'sec-fetch-site': 'none' }],
    ['a list', '/v1/me', { origin: `${APP}, ${OTHER}` }],
    ['a list', '/v1/me', { origin: APP, 'sec-fetch-site': 'same-site, cross-site' }],
  ]
  for (const [what, path, headers] of cases)
    for (const method of ['POST', 'DELETE']) {
      const page = await ask(method, path, headers)
      const said = `${what}: ${method} ${path} ${JSON.stringify(headers)}`
      t.match(page.json, { status: 401, code: 'credentials_missing' }, said)
    }
  t.equal(gateway.upstream.seen.length, before, 'the upstream receives none of them')
})

t.test('two of Origin', async (t) => {
  const cookie = [...visitor.cookies(world.origin)].map(([name, value]) => `${name}=${value}`).join('; ')
  const answer = await gateway.client.send('POST', '/v1/me', { cookie, origin: [APP, OTHER] })
  t.match(answer.json, { status: 400, code: 'request_malformed' })
})

t.test('a safe method is decided as before, and only listed pages may read the response', async (t) => {
  const evil = await ask('GET', '/v1/me', { origin: 'https://evil.example' })
  t.equal(evil.status, 200)
  t.equal(evil.headers['access-control-allow-origin'], undefined)
  t.equal(evil.headers.vary, 'Origin', 'a cache gives it to no other page')
  const bare = await ask('GET', '/bare', { origin: APP })
  t.equal(bare.headers['access-control-allow-credentials'], undefined, 'the browser withholds it')
  const own = await ask('GET', '/v1/me', { origin: APP })
  t.equal(own.headers['access-control-allow-origin'], APP)
})

t.test('WebSockets follow the same rule', async (t) => {
  const status = async (path: string, origin: string) =>
    (await ask('GET', path, { ...UPGRADE, origin })).status
  t.equal(await status('/v1/me', APP), 200, 'the upstream answers the handshake, without a WebSocket')
  t.equal(await status('/v1/me', OTHER), 401)
  t.equal(await status('/bare', APP), 401)
  t.equal(await status('/plain', APP), 401)
  const page = await ask('GET', '/v1/me', { ...UPGRADE, origin: APP })
  t.equal(page.headers['access-control-allow-origin'], undefined, 'CORS does not apply')
})

t.test('built-in endpoints know no other origin', async (t) => {
  const headers = { origin: APP, 'sec-fetch-site': 'same-site' }
  const fields = { tenant: 'globex', return_to: '/pages/a' }
  const login = await visitor.post(`${world.origin}/auth/oidc/login`, fields, headers)
  t.match(login.json, { status: 403, code: 'origin_refused' })
  t.match((await visitor.logout({}, APP)).json, { status: 403, code: 'origin_refused' })
  const seats = await visitor.postJson(`${world.origin}/v1/seats`, {}, headers)
  t.match(seats.json, { status: 403, code: 'origin_refused' })
  t.same(corsOf(await preflight(gateway.client, '/v1/seats', 'POST', { origin: APP })), {})
  t.equal((await visitor.ask('/v1/me')).status, 200, 'the session is still valid')
})

t.test('a candidate table judges the session by its own policy', async (t) => {
  const { mkdirSync, readFileSync, writeFileSync } = await import('node:fs')
  const { folder, config } = gateway
  mkdirSync(`${folder}/next`)
  const candidate = `cors: { origins: [${OTHER}], credentials: true }\nupstream: main\nroutes: { ANY /v1/me: authenticated }\n`
  writeFileSync(`${folder}/next/main.yaml`, candidate)
  writeFileSync(config.file, `${readFileSync(config.file, 'utf8')}shadow: { routes: [next/*.yaml] }\n`)
  await gateway.reload()
  t.equal((await ask('POST', '/v1/me', { origin: APP })).status, 200)
  t.equal((await ask('POST', '/v1/me', { origin: OTHER })).status, 401)
  t.equal((await ask('POST', '/v1/me', { origin: world.origin })).status, 200)
  t.equal((await preflight(gateway.client, '/v1/me', 'PUT', { origin: APP })).status, 204)
  t.equal((await preflight(gateway.client, '/v1/me', 'PUT', { origin: OTHER })).status, 403)
  const lines = gateway.log().filter(({ msg, path }) => msg === 'request' && path === '/v1/me')
  t.same(
    lines.slice(-5).map(({ code, shadow }) => [code, shadow]),
    [
      ['allow', 'credentials_missing'],
      ['credentials_missing', 'allow'],
      ['allow', undefined],
      ['allow', 'preflight_refused'],
      ['preflight_refused', 'allow'],
    ],
  )

  // The same policy and requirement, for another method.
  writeFileSync(
    `${folder}/next/main.yaml`,
    `cors: { origins: [${APP}], credentials: true }\nupstream: main\nroutes: { OPTIONS /v1/me: authenticated }\n`,
  )
  await gateway.reload()
  t.equal((await preflight(gateway.client, '/v1/me', 'PUT', { origin: APP })).status, 204)
  t.match(
    gateway
      .log()
      .filter(({ msg }) => msg === 'request')
      .at(-1),
    {
      code: 'allow',
      shadow: 'preflight_refused',
    },
  )
})
