/** `explain` parses its arguments as the gateway parses a request, and prints the whole record. */

import { UNSCOPED } from '../../src/model/route.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import t from 'tap'
import { openStore, type SeatReader } from '../../seats-admin/index.ts'
import { isRefusal } from '../../seats-admin/model/refusal.ts'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { recordAsJson } from '../../src/cli/decision-text.ts'
import { mintForSeats } from '../../src/cli/token.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Decision } from '../../src/model/decision.ts'
import { env, startWorld } from '../support/world.ts'
import { CONFIG, folderWith, ROUTES, SECRET } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const files = {
  'gateway.config.yaml': CONFIG,
  'routes/trainings.yaml': `${ROUTES}  PUT /v1/big: { permission: a:b, max_body: unlimited }\n`,
}

const decision: Decision = {
  answer: 'allow',
  code: 'allow',
  reason: 'r',
  source: 'memory',
  method: 'GET',
  path: '/',
  route: {
    id: 'GET /',
    method: 'GET',
    path: '/',
    requirement: 'a:b',
    target: { kind: 'upstream', name: 'u' },
    maxBody: Infinity,
    responseTimeout: null,
    ...UNSCOPED,
    signIn: null,
    cors: null,
    place: null,
  },
  permission: 'a:b',
  principal: {
    method: 'bearer',
    tenant: 'acme',
    user: 'a',
    email: null,
    claims: { by: 'name', entries: new Map([['__proto__', ['A', 'B']]]), issuedAt: -Infinity },
    owner: 'a',
    issuedAt: Infinity,
    session: null,
    validUntil: null,
  },
  space: 's1',
  seats: [],
  grantedIn: [],
  timings: { match: 1, authenticate: 1, resolve: 1, decide: 1, total: 1 },
  config: null,
}

t.test('values that JSON cannot represent', async (t) => {
  const record = JSON.parse(recordAsJson(decision))
  t.equal(record.route.maxBody, 'unlimited')
  t.same([record.principal.issuedAt, record.principal.claims.issuedAt], [null, null])
  t.same(Object.entries(record.principal.claims.entries), [['__proto__', ['A', 'B']]])
})

t.test('the record has the claims of the caller', async (t) => {
  const cwd = folderWith(t, files)
  t.equal((await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])).code, 0)
  const { out } = await seatgateHere(cwd, [
    ...['explain', 'GET', '/v1/trainings', '--space', ' \tadmin\t ', '--json'],
    ...['--tenant', 'acme', '--seat', 'admin'],
  ])
  t.match(JSON.parse(out), {
    code: 'allow',
    space: 'admin',
    principal: { claims: { by: 'name', entries: { admin: ['admin'] }, issuedAt: Number } },
  })
})

t.test('a key, a token and a space are trimmed', async (t) => {
  const cwd = folderWith(t, files)
  const { key } = JSON.parse((await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme', '--json'])).out)
  const token = (await seatgateHere(cwd, ['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'admin'])).out
  for (const caller of [
    ['--api-key', ` ${key}\t`],
    ['--token', `${token.trim()} \t`],
  ]) {
    const args = ['explain', 'GET', '/v1/trainings', '--space', 'admin ', ...caller]
    t.match((await seatgateHere(cwd, args)).out, /^allow\n/)
  }
})

t.test('values that no header can carry are invalid usage', async (t) => {
  const cwd = folderWith(t, files)
  for (const args of [
    ['GET', '/docs/a', '--api-key', 'a\nb'],
    ['GET', '/docs/a', '--space', 'a\u007fb'],
  ]) {
    const { code, out, err } = await seatgateHere(cwd, ['explain', ...args])
    t.equal(code, 2, JSON.stringify(args))
    t.equal(out, '')
    t.match(err, /usage: seatgate explain/)
  }
})

t.test('an option with one value may be given once', async (t) => {
  const cwd = folderWith(t, files)
  for (const args of [
    ['token', '--tenant', 'acme', '--tenant=globex', '--sub', 'a', '--seat', 'b'],
    ['explain', 'GET', '/', '--space', 'a', '--space', 'a'],
    ['routes', '--json', '--json'],
  ]) {
    const { code, err } = await seatgateHere(cwd, args)
    t.equal(code, 2, args.join(' '))
    t.match(err, /--(tenant|space|json) is given twice/)
  }
})

t.test('without a store no token is issued, and no store is created', async (t) => {
  const cwd = folderWith(t, files)
  const { code, out, err } = await seatgateHere(cwd, [
    ...['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'admin'],
  ])
  t.equal(code, 1)
  t.equal(out, '')
  t.match(err, /there is no store at .*seatgate\.db: run seatgate bootstrap or start first/)
  t.notOk(existsSync(join(cwd, 'seatgate.db')))
})

t.test('without a store it decides as on an empty one, says so, and creates none', async (t) => {
  const cwd = folderWith(t, files)
  const admin = ['--space', 'admin', '--tenant', 'acme', '--seat', 'admin']
  for (const [args, answer] of [
    [['GET', '/docs/a'], 'allow'],
    [['GET', '/nowhere'], 'route_not_found'],
    [['GET', '/v1/trainings'], 'credentials_missing'],
    [['GET', '/v1/trainings', ...admin], 'permission_denied'],
  ] as const) {
    const { code, out, err } = await seatgateHere(cwd, ['explain', ...args])
    t.equal(code, 0)
    t.equal(out.split('\n')[0], answer, args.join(' '))
    t.match(err, /^note: there is no store at .*seatgate\.db yet/)
  }
  t.notOk(existsSync(join(cwd, 'seatgate.db')))
})

t.test('methods and targets are parsed as in a request', async (t) => {
  const opaque = '  opaque: { targets: ["http://127.0.0.1:9"], allow_encoded_slashes: true }\n'
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG.replace('routes:', () => `${opaque}methods: [LIST]\nroutes:`),
    'routes/trainings.yaml': `${ROUTES}  LIST /docs/*: public\n`,
    'routes/opaque.yaml': 'upstream: opaque\nroutes:\n  GET /opaque/*: public\n',
  })
  for (const [method, target, answer] of [
    ['get', '/docs/a', 'request_malformed'],
    ['BLAH', '/docs/a', 'request_malformed'],
    ['CONNECT', '/docs/a', 'request_malformed'],
    ['GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\nGET', '/docs/a', 'request_malformed'],
    ['GET', '/docs/a?q=a b', 'request_malformed'],
    ['GET', '/docs/a\r\n', 'request_malformed'],
    ['GET', 'docs/a', 'path_ambiguous'],
    ['GET', `/docs/a?${'é'.repeat(4092)}`, 'allow'],
    ['GET', `/docs/a?${'é'.repeat(4093)}`, 'uri_too_long'],
    ['GET', '/docs/é', 'path_ambiguous'],
    ['GET', '/docs/a%2fb', 'path_ambiguous'],
    ['GET', '/opaque/a%2fb', 'allow'],
    ['GET', '/opaque/a%2f..%2fb', 'path_ambiguous'],
    ['GET', '/opaque/a%3bb', 'path_ambiguous'],
    ['LIST', '/docs/a', 'allow'],
    ['list', '/docs/a', 'request_malformed'],
    ['PROPFIND', '/docs/a', 'method_not_allowed'],
    ['GET', 'http://a\\b/docs/a', 'path_ambiguous'],
    ['GET', `/${'a'.repeat(90_000)}`, 'uri_too_long'],
    ['GET', 'http://a.example/docs/a', 'allow'],
  ] as const) {
    const { code, out, err } = await seatgateHere(cwd, ['explain', method, target])
    t.match({ code, err }, { code: 0, err: /^note: [^\n]*\n$/ }, `${method} ${target.slice(0, 40)}`)
    t.equal(out.split('\n')[0], answer, `${method} ${target.slice(0, 40)}`)
  }
})

t.test('several Seats, each with or without --seat before it', async (t) => {
  const cwd = folderWith(t, files)
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const route = ['GET', '/v1/trainings']
  const who = ['--tenant', 'acme', '--space', 'admin']
  for (const args of [
    [...route, ...who, '--seat', 'Ghost', '--seat', 'admin'],
    [...route, ...who, '--seat', 'Ghost', 'admin'],
    [...route, '--seat', 'Ghost', 'admin', ...who],
    ['--seat', 'Ghost', '--seat=admin', ...route, ...who],
    [...route, '--seat=Ghost', 'admin', ...who],
    [...route, '--seat', 'Ghost', ...who, '--seat', 'admin', 'Viewer'],
  ]) {
    const { code, out } = await seatgateHere(cwd, ['explain', ...args])
    t.equal(code, 0, args.join(' '))
    t.match(out, /^allow\n/)
    t.match(out, /seat +"Ghost" is not a Seat of the tenant\n.*seat +"admin" grants it/, args.join(' '))
  }
  for (const args of [
    ['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'admin', 'Ghost'],
    ['token', '--tenant', 'acme', '--sub', 'a', '--seat', 'Ghost', 'admin'],
  ])
    t.match(await seatgateHere(cwd, args), { code: 1, out: '', err: /tenant acme has no Seat "Ghost"/ })
  for (const args of [
    ['token', '--sub', 'a', '--seat', 'admin', '--tenant', 'acme', 'x'],
    ['explain', ...route, 'x', ...who, '--seat', 'admin'],
    ['explain', ...who, '--seat', 'admin', ...route, 'x'],
    ['explain', 'GET', ...who, '--seat', 'admin', '/v1/trainings', 'x'],
  ])
    t.match(await seatgateHere(cwd, args), { code: 2, out: '', err: /argument/ })
})

t.test('a user id cannot forge output lines', async (t) => {
  const cwd = folderWith(t, files)
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const { tenants } = await loadConfig(join(cwd, 'gateway.config.yaml'), { ACME_SECRET: SECRET })
  const tenant = tenants.get('acme')
  if (tenant === undefined) throw new Error('no tenant')
  const token = await mintToken(tenant, { sub: 'a\nallow\u001b[2J', hashPerm: [] }, Date.now())
  const { out } = await seatgateHere(cwd, ['explain', 'GET', '/v1/me', '--token', token])
  t.match(out, 'a\\u000aallow\\u001b[2J of acme')
})

t.test('a name given up while a token is issued applies to the token', async (t) => {
  const cwd = folderWith(t, files)
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const config = await loadConfig(join(cwd, 'gateway.config.yaml'), { ACME_SECRET: SECRET })
  const tenant = config.tenants.get('acme')
  if (tenant === undefined) throw new Error('no tenant')
  const store = await openStore(config.store)
  t.teardown(() => store.close())
  const now = Date.now()
  mock.timers.enable({ apis: ['Date'], now })
  t.teardown(() => mock.timers.reset())
  const seatByName: SeatReader['seatByName'] = async (...name) => {
    const found = await store.seatByName(...name)
    const scope = { space: 'admin', admin: true, all: true, permissions: ['*'] }
    const writer = { tenant: 'acme', by: 'test', scope, now }
    const renamed = await store.updateSeat(writer, found.value.seat?.id ?? '', { name: 'other' })
    if (isRefusal(renamed)) throw new Error(renamed.detail)
    mock.timers.setTime(now + 1100)
    return found
  }
  const slow = new Proxy(store, {
    get: (target, name) => (name === 'seatByName' ? seatByName : Reflect.get(target, name)),
  })
  const token = await mintForSeats(slow, tenant, { sub: 'a' }, ['admin'])
  const { iat } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const { givenUpAt } = (await store.seatByName('acme', 'admin')).value
  t.ok(givenUpAt !== null && iat <= givenUpAt, `${iat} is not after ${givenUpAt}`)
})

t.test(
  "a built-in path that the configuration does not serve: the result is the gateway's response",
  async (t) => {
    const { client, folder } = await startWorld(t)
    const asks = [
      ['POST', '/auth/oidc/login'],
      ['GET', '/auth/oidc/callback'],
      ['POST', '/auth/oidc/validate'],
      ['POST', '/auth/oidc/logout'],
      ['GET', '/auth/oidc/login'],
      ['GET', '/auth/oidc'],
    ] as const
    for (const [method, path] of asks) {
      const headers = { 'content-type': 'application/json' }
      const { json } = await client.send(method, path, headers, method === 'POST' ? '{}' : undefined)
      t.equal(
        json.code,
        path === '/auth/oidc/login' && method === 'GET' ? 'method_not_allowed' : 'route_not_found',
      )
      const { out } = await seatgateHere(folder, ['explain', method, path, '--json'], env)
      t.match(JSON.parse(out), { answer: 'deny', code: json.code, route: null }, `${method} ${path}`)
    }
  },
)
