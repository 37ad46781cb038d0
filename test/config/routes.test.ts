import t from 'tap'
import { REGISTERED_METHODS } from '../../src/config/methods.ts'
import type { RouteEntry } from '../../src/config/config.ts'
import { BASE, Folder, tableFaults } from './support.ts'

async function entries(t: Parameters<typeof tableFaults>[0], lines: string): Promise<readonly RouteEntry[]> {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [r.yaml]\n`,
    'r.yaml': `upstream: main\nroutes:\n${lines}`,
  })
  const { config, faults } = await folder.load()
  if (config === null) throw new Error(faults.map((each) => each.message).join('\n'))
  return config.routes
}

t.test('entries with their limits and positions', async (t) => {
  const routes = await entries(
    t,
    `  GET /v1/trainings: trainings:list
  ANY /all: '*'
  'HEAD /q': public
  PUT /v1/big: { permission: trainings:import, response_timeout: 5m, max_body: 1GiB }
  POST /up:
    permission: authenticated
    max_body: unlimited
  PATCH /none: { permission: a.b-c_D:e.f-G_1, max_body: 0B }
`,
  )
  const common = { upstream: 'main', responseTimeout: null, maxBody: 10 * 1024 * 1024 }
  const at = (line: number) => ({ line, column: 3 })
  t.match(routes, [
    { ...common, method: 'GET', path: '/v1/trainings', requirement: 'trainings:list', place: at(3) },
    { ...common, method: 'ANY', path: '/all', requirement: '*', place: at(4) },
    { ...common, method: 'HEAD', path: '/q', requirement: 'public', place: at(5) },
    {
      method: 'PUT',
      path: '/v1/big',
      requirement: 'trainings:import',
      responseTimeout: 300_000,
      maxBody: 1024 ** 3,
    },
    { method: 'POST', requirement: 'authenticated', maxBody: Number.POSITIVE_INFINITY, place: at(7) },
    { method: 'PATCH', requirement: 'a.b-c_D:e.f-G_1', maxBody: 0 },
  ])
  t.equal(routes.length, 6)
})

t.test('every method of a request, except CONNECT and TRACE', async (t) => {
  const served = REGISTERED_METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE')
  const routes = await entries(t, served.map((method) => `  ${method} /a: public\n`).join(''))
  t.same(
    routes.map((entry) => entry.method),
    served,
  )
})

const key = async (t: Parameters<typeof tableFaults>[0], text: string) => {
  const faults = await tableFaults(t, `upstream: main\nroutes:\n  ${JSON.stringify(text)}: public\n`)
  t.equal(faults.length, 1, text)
  return faults[0]
}

t.test('keys other than METHOD /path', async (t) => {
  for (const text of [
    '',
    ' ',
    'GET',
    'GET ',
    '/a',
    ' /a',
    ' GET /a',
    'GET  /a',
    'GET /a ',
    'GET\t/a',
    'GET /a b',
    'GET\u00a0/a',
    'GET /a\n',
    'GET /\u2003',
  ])
    t.match(
      await key(t, text),
      /^3:3: ".*" is not "METHOD \/path" with exactly one space$/,
      JSON.stringify(text),
    )
  t.match(await key(t, 'CONNECT /a'), /never matches a request/)
  t.match(await key(t, 'TRACE /a'), /never matches a request/)
  t.match(await key(t, 'get /a'), /write GET$/)
  t.match(await key(t, 'Any /a'), /write ANY$/)
  t.match(
    await key(t, 'DELTE /a'),
    /not begin with an HTTP method or ANY \(did you mean "DELETE"\?\): list a method/,
  )
  t.match(await key(t, '* /a'), /not begin with an HTTP method or ANY: list a method outside IANA's registry/)
  t.match(await key(t, 'GET,POST /a'), /not begin with an HTTP method or ANY/)
})

t.test('invalid permissions', async (t) => {
  const value = (text: string) => tableFaults(t, `upstream: main\nroutes:\n  GET /a: ${text}\n`)
  t.match(await value('trainings:*'), [/^3:11: GET \/a: "trainings:\*" has a wildcard in one part/])
  t.match(await value("'*:read'"), [/has a wildcard in one part/])
  for (const text of [
    "''",
    "' '",
    'trainings',
    'a:b:c',
    "'a:'",
    "':b'",
    "'a:b '",
    "'a b:c'",
    'ä:b',
    "'**'",
    "'a:b\n\n    c'",
    'a/b:c',
    "'*x:y'",
  ])
    t.match(await value(text), [/^3:11: GET \/a: ".*" is not a permission <resource>:<operation>/], text)
  t.match(await value('Public'), [/\(did you mean "public"\?\)$/])
  t.match(await value('pulbic'), [/\(did you mean "public"\?\)$/])
  t.match(await value(''), [
    /^3:11: "GET \/a" must be a string or a map such as "trainings:read", not empty$/,
  ])
  for (const text of ['7', 'true', '[a:b]'])
    t.match(await value(text), [/^3:11: "GET \/a" must be a string or a map/], text)
  t.match(await value('{}'), [/^3:3: "GET \/a" must have the key "permission"$/])
  t.match(await value('{ permission: [] }'), [/^3:25: permission must be a string/])
  t.match(await value('{ permision: a:b }'), [
    /^3:3: "GET \/a" must have the key "permission"$/,
    /^3:13: "permision" is not a known key \(did you mean "permission"\?\)$/,
  ])
})

t.test('invalid limits', async (t) => {
  const limit = (text: string) =>
    tableFaults(t, `upstream: main\nroutes:\n  GET /a: { permission: a:b, ${text} }\n`)
  t.match(await limit('max_body: 10MB'), [/^3:40: max_body: "10MB" is not a size: write MiB/])
  t.match(await limit('max_body: 10'), [/max_body must be a string such as "10MiB", not a number$/])
  t.match(await limit('max_body: Unlimited'), [/is not a size/])
  t.match(await limit('max_body: .inf'), [/must be a string/])
  t.match(await limit('response_timeout: 0s'), [/is too short: the minimum is 1ms/])
  t.match(await limit('response_timeout: 25d'), [/is too long: the maximum is 24d/])
  t.match(await limit('response_timeout: unlimited'), [/is not a duration/])
})

t.test('a table without its required keys', async (t) => {
  t.match(await tableFaults(t, 'routes: {}\n'), [/^1:1: the file must have the key "upstream"$/])
  t.match(await tableFaults(t, 'upstream: main\n'), [/^1:1: the file must have the key "routes"$/])
  t.match(await tableFaults(t, 'upstream: main\nroutes:\n'), [/^2:8: routes must be a map, not empty$/])
  t.match(await tableFaults(t, 'upstream: main\nroutes: [GET /a]\n'), [
    /^2:9: routes must be a map, not a list$/,
  ])
  t.match(await tableFaults(t, 'upstream: [main]\nroutes: {}\n'), [
    /^1:11: upstream must be a string such as/,
  ])
  t.match(await tableFaults(t, 'upstream: mian\nroutes: {}\n'), [
    /^1:11: .* is not an upstream of the configuration \(did you mean "main"\?\)$/,
  ])
  t.match(
    await tableFaults(t, 'upstream: Main\nroutes: {}\n'),
    [/is not an upstream/],
    'keys are case-sensitive',
  )
  t.match(await tableFaults(t, 'upstream: main\nroutes: {}\nlisten: a:1\n'), [
    /^3:1: "listen" is not a known key \(known keys: upstream, cors, host, hosts, prefix, strip_prefix, tenant, space, rate_limit, routes\)$/,
  ])
  t.match(await tableFaults(t, 'upstream: main\nroutes:\n  GET /a: a:b\n  GET /a: a:c\n'), [
    /^4:3: "GET \/a" is a duplicate key: first in line 3$/,
  ])
})
