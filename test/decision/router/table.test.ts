import t from 'tap'
import type { RouteEntry } from '../../../src/config/config.ts'
import { type Route, UNSCOPED } from '../../../src/model/route.ts'
import { compileTable } from '../../../src/decision/router/table.ts'

const upstreams = new Map([
  ['a', { allowSemicolons: false, allowEncodedSlashes: false }],
  ['semi', { allowSemicolons: true, allowEncodedSlashes: false }],
  ['opaque', { allowSemicolons: false, allowEncodedSlashes: true }],
])

function entry(text: string, line: number, upstream = 'a'): RouteEntry {
  const [method = '', path = ''] = text.split(' ')
  const place = { file: 'routes/a.yaml', line, column: 3 }
  return {
    method,
    path,
    requirement: 'x:y',
    upstream,
    responseTimeout: null,
    signIn: null,
    maxBody: 1,
    place,
  }
}

function builtIn(id: string): Route {
  const [method = '', path = ''] = id.split(' ')
  const handler = async () => ({ status: 204 })
  return {
    id,
    method,
    path,
    requirement: 'seats:list',
    target: { kind: 'local', handler },
    maxBody: 1,
    responseTimeout: null,
    ...UNSCOPED,
    signIn: null,
    cors: null,
    place: null,
  }
}

function compile(entries: string[], own: Route[] = []) {
  return compileTable(
    entries.map((text, index) => entry(text, index + 1)),
    upstreams,
    own,
  )
}

function finder(entries: string[], own: Route[] = []) {
  const { table, faults } = compile(entries, own)
  if (faults.length > 0) throw new Error(faults.map((each) => each.message).join('\n'))
  return (request: string) => {
    const [method = '', path = ''] = request.split(' ')
    const match = table.match(method, path)
    return match === null ? table.allowedMethods(path).join(' ') || null : match.route.id
  }
}

t.test('static precedes {param}, which precedes *', async (t) => {
  const find = finder(['GET /a/b', 'GET /a/{x}', 'GET /a/*', 'GET /*'])
  t.equal(find('GET /a/b'), 'GET /a/b')
  t.equal(find('GET /a/c'), 'GET /a/{x}')
  t.equal(find('GET /a/c/d'), 'GET /a/*')
  t.equal(find('GET /a/'), 'GET /a/*', 'the rest may be empty')
  t.equal(find('GET /a'), 'GET /*', '* begins after its slash')
  t.equal(find('GET /'), 'GET /*')
})

t.test('a parameter is one non-empty segment', async (t) => {
  const find = finder(['GET /a/{x}', 'GET /a/{x}/c'])
  t.equal(find('GET /a/'), null)
  t.equal(find('GET /a/b/'), null)
  t.equal(find('GET /a/b/c'), 'GET /a/{x}/c')
})

t.test('a trailing slash is significant', async (t) => {
  const find = finder(['GET /a', 'GET /b/'])
  t.equal(find('GET /a/'), null)
  t.equal(find('GET /b'), null)
  t.equal(find('GET /b/'), 'GET /b/')
})

t.test('matching backtracks from a static segment to a parameter', async (t) => {
  const find = finder(['GET /a/b/c', 'GET /a/{x}/d', 'GET /{y}/b/e', 'GET /a/*'])
  t.equal(find('GET /a/b/d'), 'GET /a/{x}/d')
  t.equal(find('GET /a/b/e'), 'GET /{y}/b/e'.replace('/{y}/b/e', '/a/*'), 'the first segment decides first')
  t.equal(find('GET /z/b/e'), 'GET /{y}/b/e')
})

t.test('HEAD uses the entry of GET unless it has its own', async (t) => {
  const find = finder(['GET /a', 'GET /b', 'HEAD /b', 'POST /c'])
  t.equal(find('HEAD /a'), 'GET /a')
  t.equal(find('HEAD /b'), 'HEAD /b')
  t.equal(find('HEAD /c'), 'POST')
})

t.test('ANY stands for every method except TRACE; the method itself precedes it', async (t) => {
  const find = finder(['ANY /a', 'GET /a', 'GET /{x}'])
  t.equal(find('GET /a'), 'GET /a')
  t.equal(find('HEAD /a'), 'GET /a')
  t.equal(find('PURGE /a'), 'ANY /a')
  t.equal(find('TRACE /a'), 'DELETE GET HEAD OPTIONS PATCH POST PUT')
})

t.test('where an entry lacks the method, a wider entry with it matches', async (t) => {
  const find = finder(['POST /trainings/import', 'GET /trainings/{id}'])
  t.equal(find('GET /trainings/import'), 'GET /trainings/{id}')
  t.equal(find('PUT /trainings/import'), 'GET HEAD POST')
})

t.test('parameters contain the text of the path', async (t) => {
  const { table } = compile(['GET /a/{x}/b/{y}/*'])
  t.same(table.match('GET', '/a/1/b/2/3/4')?.params.toObject(), { x: '1', y: '2', '*': '3/4' })
  t.same(compile(['GET /a']).table.match('GET', '/a')?.params.toObject(), {})
})

t.test('two entries that match the same requests', async (t) => {
  const { faults } = compile([
    'GET /a/{x}',
    'POST /a/{x}',
    'GET /a/{y}',
    'ANY /b',
    'ANY /b',
    'GET /c/*',
    'GET /c/*',
  ])
  t.same(
    faults.map((each) => `${each.place.line} ${each.message}`),
    [
      '3 GET /a/{y}: matches the same requests as GET /a/{x} (routes/a.yaml:1): remove one of them',
      '5 ANY /b: matches the same requests as ANY /b (routes/a.yaml:4): remove one of them',
      '7 GET /c/*: matches the same requests as GET /c/* (routes/a.yaml:6): remove one of them',
    ],
  )
})

t.test('unreachable entries and invalid patterns', async (t) => {
  for (const path of [
    '/a//b',
    '/a/../b',
    '/a/%2e',
    '/a%2Fb',
    '/a%2fb',
    '/%61',
    '/caf%c3%a9',
    '/café',
    '/a\\b',
    '/a;b',
    '/a?b',
    '/a#b',
    '/a/*/b',
    '/a*',
    '/{a}b',
    '/{a}/{a}',
    '/{}',
    '/{1}',
    '/{__proto__}',
    '/a}',
    'a',
    '/%zz',
  ]) {
    const { faults } = compile([`GET ${path}`])
    t.equal(faults.length, 1, path)
  }
  t.match(compile(['GET /café']).faults[0]?.message, /Write it as \/caf%C3%A9\./)
  t.same(compile(['GET /caf%C3%A9']).faults, [])
})

t.test('crossing entries give one warning, at the entry that matches', async (t) => {
  const crossings = (entries: readonly RouteEntry[]) =>
    compileTable(entries, upstreams, []).warnings.map((each) => `${each.place.line} ${each.message}`)
  /** Each requires another permission. */
  const warningsOf = (...entries: string[]) =>
    crossings(entries.map((text, at) => ({ ...entry(text, at + 1), requirement: `a:${at}` })))
  const crossed = (from: string, to: string, at: number) =>
    `${from}: some requests match ${to} (routes/a.yaml:${at}) too; this entry takes precedence`
  t.same(warningsOf('GET /a/{x}', 'GET /{y}/b'), [`1 ${crossed('GET /a/{x}', 'GET /{y}/b', 2)}`])
  t.same(warningsOf('GET /{y}/b', 'GET /a/{x}'), [`2 ${crossed('GET /a/{x}', 'GET /{y}/b', 1)}`])
  t.same(warningsOf('GET /a/{x}/c', 'ANY /{y}/b/{z}'), [`1 ${crossed('GET /a/{x}/c', 'ANY /{y}/b/{z}', 2)}`])
  t.same(warningsOf('GET /a/{x}/c', 'GET /{y}/b/*'), [`1 ${crossed('GET /a/{x}/c', 'GET /{y}/b/*', 2)}`])
  t.same(warningsOf('GET /a/{x}', 'POST /{y}/b'), [], 'other methods')
  t.same(warningsOf('GET /a/{x}', 'GET /{y}/b/c'), [], 'other lengths')
  t.same(
    warningsOf('GET /a/b', 'GET /a/{x}', 'GET /{y}/{x}', 'GET /a/*', 'GET /*'),
    [],
    'one within the other',
  )
  const alike = [entry('GET /a/{x}', 1), entry('GET /{y}/b', 2)] as const
  t.same(crossings(alike), [], 'with the same answer')
  t.equal(crossings([alike[0], { ...alike[1], upstream: 'semi' }]).length, 1, 'to different upstreams')
})

t.test('a semicolon where the upstream accepts it', async (t) => {
  for (const path of ['/a;b', '/a%3Bb']) {
    t.same(compileTable([entry(`GET ${path}`, 1, 'semi')], upstreams, []).faults, [])
    t.match(compileTable([entry(`GET ${path}`, 1)], upstreams, []).faults, [{ message: /allow_semicolons/ }])
  }
})

t.test('an encoded slash where the upstream accepts it stays within its segment', async (t) => {
  t.match(compileTable([entry('GET /a%2Fb', 1)], upstreams, []).faults, [
    { message: /allow_encoded_slashes/ },
  ])
  t.match(compileTable([entry('GET /a%2fb', 1, 'opaque')], upstreams, []).faults, [
    { message: /normalised form is \/a%2Fb/ },
  ])
  const entries = ['GET /a/b', 'GET /a%2Fb', 'GET /{x}', 'GET /{x}/{y}', 'GET /r/*']
  const { table, faults } = compileTable(
    entries.map((each, at) => entry(each, at, 'opaque')),
    upstreams,
    [],
  )
  t.same(faults, [])
  for (const [path, id] of [
    ['/a/b', 'GET /a/b'],
    ['/a%2Fb', 'GET /a%2Fb'],
    ['/a%2Fc', 'GET /{x}'],
    ['/%2F', 'GET /{x}'],
    ['/a/b%2Fc', 'GET /{x}/{y}'],
    ['/r%2Fc', 'GET /{x}'],
    ['/r/c%2Fd', 'GET /r/*'],
  ] as const)
    t.equal(table.match('GET', path)?.route.id, id, path)
})

t.test('built-in paths: no entry of a table matches there, with any method', async (t) => {
  const own = [builtIn('GET /v1/seats'), builtIn('GET /v1/seats/{seat_id}')]
  for (const id of [
    'GET /v1/seats',
    'PATCH /v1/seats',
    'GET /v1/seats/{x}',
    'GET /v1/seats/export',
    'ANY /v1/seats',
    'GET /v1/seats/*',
    'ANY /v1/seats/*',
    'PATCH /v1/seats/*',
  ]) {
    t.match(compile([id], own).faults[0]?.message, /collides with a built-in path/, id)
  }
  const find = finder(
    ['ANY /*', 'ANY /v1/*', 'ANY /v1/{x}', 'GET /v1/seats/{x}/y', 'GET /v1/seats/{x}/y/*', 'GET /{a}/*'],
    own,
  )
  t.equal(find('GET /v1/seats'), 'GET /v1/seats')
  t.equal(find('HEAD /v1/seats'), 'GET /v1/seats')
  t.equal(find('PATCH /v1/seats'), 'GET HEAD')
  t.equal(find('DELETE /v1/seats/7'), 'GET HEAD')
  t.equal(find('GET /v1/seats/7/y'), 'GET /v1/seats/{x}/y')
  t.equal(find('GET /v1/seats/7/y/z'), 'GET /v1/seats/{x}/y/*')
  t.equal(find('PUT /v1/seats/'), 'ANY /v1/*')
})

t.test('segments named like object properties are ordinary', async (t) => {
  const find = finder(['GET /constructor', 'GET /__proto__/{x}'])
  t.equal(find('GET /toString'), null)
  t.equal(find('GET /__proto__/a'), 'GET /__proto__/{x}')
  t.equal(find('constructor /constructor'), 'GET HEAD')
})
