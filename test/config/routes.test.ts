import t from 'tap'
import { REGISTERED_METHODS } from '../../src/config/methods.ts'
import type { RouteEntry } from '../../src/config/config.ts'
import { BASE, Folder, tableFaultsAt } from './support.ts'

async function entries(
  t: Parameters<typeof tableFaultsAt>[0],
  lines: string,
): Promise<readonly RouteEntry[]> {
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

const key = (t: Parameters<typeof tableFaultsAt>[0], text: string) =>
  tableFaultsAt(t, `upstream: main\nroutes:\n  ${JSON.stringify(text)}: public\n`, '3:3')

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
    await key(t, text)
  await key(t, 'CONNECT /a')
  await key(t, 'TRACE /a')
  await key(t, 'get /a')
  await key(t, 'Any /a')
  await key(t, 'DELTE /a')
  await key(t, '* /a')
  await key(t, 'GET,POST /a')
})

t.test('invalid permissions', async (t) => {
  const value = (text: string, places = '3:11') =>
    tableFaultsAt(t, `upstream: main\nroutes:\n  GET /a: ${text}\n`, places)
  await value('trainings:*')
  await value("'*:read'")
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
    await value(text)
  await value('Public')
  await value('pulbic')
  await value('')
  for (const text of ['7', 'true', '[a:b]']) await value(text)
  await value('{}', '3:3')
  await value('{ permission: [] }', '3:25')
  await value('{ permision: a:b }', '3:3 3:13')
})

t.test('invalid limits', async (t) => {
  const limit = (text: string, place: string) =>
    tableFaultsAt(t, `upstream: main\nroutes:\n  GET /a: { permission: a:b, ${text} }\n`, place)
  await limit('max_body: 10MB', '3:40')
  await limit('max_body: 10', '3:40')
  await limit('max_body: Unlimited', '3:40')
  await limit('max_body: .inf', '3:40')
  await limit('response_timeout: 0s', '3:48')
  await limit('response_timeout: 25d', '3:48')
  await limit('response_timeout: unlimited', '3:48')
})

t.test('a table without its required keys', async (t) => {
  await tableFaultsAt(t, 'routes: {}\n', '1:1')
  await tableFaultsAt(t, '', '1:1')
  await tableFaultsAt(t, 'upstream: main\n', '1:1')
  await tableFaultsAt(t, 'upstream: main\nroutes:\n', '2:8')
  await tableFaultsAt(t, 'upstream: main\nroutes: [GET /a]\n', '2:9')
  await tableFaultsAt(t, 'upstream: [main]\nroutes: {}\n', '1:11')
  await tableFaultsAt(t, 'upstream: mian\nroutes: {}\n', '1:11')
  await tableFaultsAt(t, 'upstream: Main\nroutes: {}\n', '1:11')
  await tableFaultsAt(t, 'upstream: main\nroutes: {}\nlisten: a:1\n', '3:1')
  await tableFaultsAt(t, 'upstream: main\nroutes:\n  GET /a: a:b\n  GET /a: a:c\n', '4:3')
})
