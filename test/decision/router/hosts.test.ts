/** Tables by host, built-in paths by host, and the prefix of a table. */

import t from 'tap'
import { compileTable } from '../../../src/decision/router/table.ts'
import type { RouteEntry } from '../../../src/config/config.ts'
import { type Route, UNSCOPED } from '../../../src/model/route.ts'

const upstreams = new Map([['a', { allowSemicolons: false, allowEncodedSlashes: false }]])

type Scope = Pick<RouteEntry, 'hosts' | 'prefix' | 'stripPrefix'>

function entries(scope: Scope, ...lines: string[]): RouteEntry[] {
  return lines.map((text, index) => {
    const [method = '', path = ''] = text.split(' ')
    const place = { file: 'a.yaml', line: index + 1, column: 3 }
    const limits = { responseTimeout: null, signIn: null, maxBody: 1 }
    return { method, path, requirement: 'x:y', upstream: 'a', ...limits, place, ...scope }
  })
}

const SEATS: Route = {
  id: 'GET /v1/seats',
  method: 'GET',
  path: '/v1/seats',
  ...UNSCOPED,
  requirement: 'seats:list',
  target: { kind: 'local', handler: async () => ({ status: 204 }) },
  maxBody: 1,
  responseTimeout: null,
  signIn: null,
  cors: null,
  place: null,
}

function compile(all: RouteEntry[][], apiHosts: string[] | null = null) {
  const { table, faults, warnings } = compileTable(all.flat(), upstreams, [SEATS], apiHosts)
  const find = (method: string, path: string, host: string | null = null) =>
    table.match(method, path, host)?.route.id ?? null
  return { table, find, faults: faults.map(({ message }) => message), warnings }
}

t.test('exact beats wildcard, and neither falls back', async (t) => {
  const { find } = compile([
    entries({ hosts: ['a.example'] }, 'GET /a'),
    entries({ hosts: ['*.example', '*.b.example'] }, 'GET /w', 'ANY /*'),
    entries({}, 'GET /o', 'ANY /*'),
  ])
  t.equal(find('GET', '/a', 'a.example'), 'GET a.example/a')
  t.equal(find('GET', '/w', 'a.example'), null)
  t.equal(find('GET', '/o', 'a.example'), null)
  t.equal(find('GET', '/w', 'x.example'), 'GET *.example+1/w')
  t.equal(find('GET', '/w', 'x.b.example'), 'GET *.example+1/w')
  t.equal(find('GET', '/o', 'x.example'), 'ANY *.example+1/*')
  for (const host of [null, 'example', 'x.y.example', 'example.org', '[::1]', '1.2.3.4'])
    t.equal(find('GET', '/o', host), 'GET /o', String(host))
})

t.test('the same entry twice for one host is a fault, for different hosts it is not', async (t) => {
  const { faults } = compile([
    entries({ hosts: ['a.example', 'b.example'] }, 'GET /a'),
    entries({ hosts: ['b.example', 'c.example'] }, 'GET /{x}', 'GET /a'),
  ])
  t.same(faults, ['GET /a: matches the same requests as GET a.example+1/a (a.yaml:1): remove one of them'])
  const apart = compile([
    entries({ hosts: ['a.example'] }, 'GET /a'),
    entries({ hosts: ['*.example'] }, 'GET /a'),
    entries({}, 'GET /a'),
  ])
  t.same(apart.faults, [])
})

t.test('tables with some of the hosts of another add to it there', async (t) => {
  const { find, faults } = compile([
    entries({ hosts: ['a.example', 'b.example'] }, 'GET /both'),
    entries({ hosts: ['b.example'] }, 'GET /one'),
  ])
  t.same(faults, [])
  t.equal(find('GET', '/one', 'a.example'), null)
  t.equal(find('GET', '/one', 'b.example'), 'GET b.example/one')
  t.equal(find('GET', '/both', 'b.example'), 'GET a.example+1/both')
})

t.test('hosts with the same entries share one tree', async (t) => {
  const hosts = Array.from({ length: 50 }, (_, i) => `h${i}.example`)
  const { table } = compile([entries({ hosts }, 'GET /a')])
  t.equal(new Set(hosts.map((host) => table.rootOf(host))).size, 1)
  t.equal(compile([entries({}, 'GET /a')]).table.hosts, null, 'tables without hosts ask for none')
})

t.test('built-in paths answer on every host, or on those of api_hosts', async (t) => {
  const tables = [
    entries({ hosts: ['a.example'] }, 'GET /a'),
    entries({ hosts: ['*.example'] }, 'GET /w'),
    entries({}, 'GET /o'),
  ]
  const everywhere = compile(tables)
  for (const host of [null, 'a.example', 'x.example', 'other'])
    t.equal(everywhere.find('GET', '/v1/seats', host), SEATS.id)
  const some = compile(tables, ['gw.example', 'gw', '*.api.test'])
  for (const host of ['gw.example', 'gw', 'x.api.test'])
    t.equal(some.find('GET', '/v1/seats', host), SEATS.id, host)
  for (const host of [null, 'a.example', 'x.example', 'other', 'api.test'])
    t.equal(some.find('GET', '/v1/seats', host), null, String(host))
  t.equal(some.find('GET', '/w', 'gw.example'), 'GET *.example/w', 'it is still a host of the wildcard')
  t.equal(some.find('GET', '/o', 'gw'), 'GET /o', 'it is still a host that no table names')
  t.same(some.table.allowedMethods('/v1/seats', 'gw'), ['GET', 'HEAD'])
  t.same(some.table.allowedMethods('/v1/seats', 'other'), [])
})

t.test('a built-in path is a fault where it answers, and free elsewhere', async (t) => {
  const collides = [/collides with a built-in path/]
  const own = (hosts?: string[]) => [entries(hosts === undefined ? {} : { hosts }, 'GET /v1/seats')]
  t.match(compile(own()).faults, collides)
  t.match(compile(own(['a.example'])).faults, collides)
  t.same(compile(own(), ['gw']).faults.length, 1, 'gw serves the tables without a host too')
  t.same(compile(own(['a.example']), ['gw']).faults, [])
  t.match(compile(own(['a.example']), ['*.example']).faults, collides)
  t.match(compile(own(['*.example']), ['gw.example']).faults, collides)
  const { find } = compile(own(['a.example']), ['gw'])
  t.equal(find('GET', '/v1/seats', 'a.example'), 'GET a.example/v1/seats')
  t.equal(find('GET', '/v1/seats', 'gw'), SEATS.id)
})

t.test('a prefix stands before every pattern', async (t) => {
  const { find, faults } = compile([
    entries({ prefix: '/code' }, 'GET /a/{b}', 'POST /c/*'),
    entries({}, 'GET /a/{b}'),
  ])
  t.same(faults, [])
  t.equal(find('GET', '/code/a/x'), 'GET /code/a/{b}')
  t.equal(find('POST', '/code/c/'), 'POST /code/c/*')
  t.equal(find('GET', '/a/x'), 'GET /a/{b}')
  t.equal(find('GET', '/code'), null)
  t.equal(find('POST', '/codec/x'), null)
  t.match(compile([entries({ prefix: '/v1' }, 'GET /seats')]).faults, [/^GET \/v1\/seats: collides/])
  t.match(compile([entries({ prefix: '/code' }, 'GET a')]).faults, [/must begin with a slash/])
  t.match(compile([entries({ prefix: '/a' }, 'GET /b'), entries({}, 'GET /a/b')]).faults, [
    /matches the same requests/,
  ])
})

t.test('/ and /* behind a prefix stand for the prefix itself too', async (t) => {
  const root = compile([entries({ prefix: '/code' }, 'GET /')])
  for (const path of ['/code', '/code/']) t.equal(root.find('GET', path), 'GET /code/', path)
  const rest = compile([entries({ prefix: '/code' }, 'GET /*')])
  for (const path of ['/code', '/code/', '/code/a']) t.equal(rest.find('GET', path), 'GET /code/*', path)
  const both = [entries({ prefix: '/code' }, 'GET /*', 'ANY /*', 'GET /')]
  for (const lines of [both, both.map((each) => each.toReversed())]) {
    const { find, faults } = compile(lines)
    t.same(faults, [])
    for (const path of ['/code', '/code/']) {
      t.equal(find('GET', path), 'GET /code/', path)
      t.equal(find('POST', path), 'ANY /code/*', path)
    }
  }
  const any = compile([entries({ prefix: '/code' }, 'GET /*', 'ANY /')])
  for (const path of ['/code', '/code/']) t.equal(any.find('GET', path), 'ANY /code/', path)
  const other = compile([entries({ prefix: '/code' }, 'GET /*'), entries({}, 'GET /code')])
  t.equal(other.find('GET', '/code'), 'GET /code', 'an entry of its own comes first')
  t.match(compile([entries({ prefix: '/code' }, 'GET /'), entries({}, 'GET /code')]).faults, [
    /the same requests/,
  ])
})

t.test('ANY falls behind a stricter method: a warning, for each host once', async (t) => {
  const { warnings } = compileTable(
    [
      ...entries({ hosts: ['a.example', 'b.example'] }, 'GET /v1/admin/x'),
      ...entries({ hosts: ['a.example', 'b.example'] }, 'ANY /v1/*').map((each) => ({
        ...each,
        requirement: 'public',
      })),
    ],
    upstreams,
    [],
  )
  t.match(warnings, [
    { code: 'wider_fallback', message: /POST.* of its path can fall back to ANY a\.example\+1\/v1\/\*/ },
  ])
  t.equal(warnings.length, 1)
})
