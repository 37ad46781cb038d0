/** Descriptions of HTTP APIs become entries of a route table. */

import t from 'tap'
import { Alias } from 'yaml'
import { entriesOf, templateFault } from '../../src/access/openapi/operation-entries.ts'
import { readDescription } from '../../src/access/openapi/description.ts'
import { readOperations, remarkName } from '../../src/access/openapi/operations.ts'
import { OpenApiTable, tableText } from '../../src/access/openapi/table-text.ts'

const described = (paths: object, more: object = {}) => readOperations({ openapi: '3.1.0', paths, ...more })

function entries(paths: object, more: object = {}, template = '{resource}:{verb}'): string[] {
  return entriesOf(described(paths, more), template).entries.map(
    ({ method, path, permission, review }) =>
      `${method} ${path}: ${permission}${review === '' ? '' : ' review'}`,
  )
}

const remarks = (paths: object, more: object = {}) =>
  entriesOf(described(paths, more), '{resource}:{verb}').remarks.map(
    (remark) => `${remarkName(remark)}: ${remark.message}`,
  )

t.test('verbs and resources', async (t) => {
  const all = { get: {}, post: {}, put: {}, patch: {}, delete: {}, options: {}, query: {} }
  t.same(entries({ '/v1/orders': { get: {}, post: {} }, '/v1/orders/{id}': all, '/': { get: {} } }), [
    'GET /v1/orders: orders:list',
    'POST /v1/orders: orders:create',
    'GET /v1/orders/{id}: orders:read',
    'POST /v1/orders/{id}: orders:create',
    'PUT /v1/orders/{id}: orders:update',
    'PATCH /v1/orders/{id}: orders:update',
    'DELETE /v1/orders/{id}: orders:delete',
    'OPTIONS /v1/orders/{id}: orders:options',
    'QUERY /v1/orders/{id}: orders:query',
    'GET /: root:list',
  ])
  t.same(entries({ '/{id}': { get: {} }, '/a%20b/x y': { get: {} } }), ['GET /{id}: root:read'])
})

t.test('templates', async (t) => {
  const paths = { '/a/{id}': { get: { tags: ['My things'], operationId: 'get/one thing' } } }
  t.same(entries(paths, {}, '{tag}:{operationId}'), ['GET /a/{id}: My-things:get-one-thing'])
  t.same(entries(paths, {}, 'shop:{resource}.{verb}'), ['GET /a/{id}: shop:a.read'])
  t.same(entries({ '/a/{id}': { get: {} } }, {}, '{tag}:{operationId}'), ['GET /a/{id}: a:GET-a'])
  t.equal(templateFault('{resource}:{verb}'), null)
  t.match(templateFault('{ressource}:{verb}'), 'has the unknown placeholder {ressource}')
  t.match(templateFault('{resource}'), 'does not make a permission')
  t.match(templateFault('a b:{verb}'), 'does not make a permission')
})

t.test('credentials', async (t) => {
  const paths = {
    '/open': { get: { security: [] } },
    '/either': { get: { security: [{}, { key: [] }] } },
    '/closed': { get: { security: [{ key: [] }] } },
    '/silent': { get: {} },
  }
  t.same(entries(paths), [
    'GET /open: public review',
    'GET /either: either:list',
    'GET /closed: closed:list',
    'GET /silent: silent:list',
  ])
  t.same(remarks(paths), ['GET /either: the credential is optional: the entry requires one'])
  t.same(entries({ '/a': { get: {} }, '/b': { get: { security: [{ key: [] }] } } }, { security: [] }), [
    'GET /a: public review',
    'GET /b: b:list',
  ])
})

t.test('x-seatgate-permission', async (t) => {
  const fixed = (permission: unknown) => ({
    '/a': { get: { security: [], 'x-seatgate-permission': permission } },
  })
  for (const permission of ['x:y', '*', 'public', 'authenticated'])
    t.same(entries(fixed(permission)), [`GET /a: ${permission}`])
  for (const wrong of ['x', 7, null, ['x:y']]) {
    t.same(entries(fixed(wrong)), [], 'not published, and not given another permission')
    t.match(remarks(fixed(wrong))[0], 'is not a permission, authenticated or public')
  }
  t.same(
    entries({ '/a': { 'x-seatgate-permission': 'x:y', get: {}, put: { 'x-seatgate-permission': 'p:q' } } }),
    ['GET /a: x:y', 'PUT /a: p:q'],
  )
})

t.test('paths', async (t) => {
  const name = (each: string) => entries({ [each]: { get: {} } }).map((entry) => entry.split(': ')[0])
  t.same(name('/a/{user.id}/{$x}/{1}'), ['GET /a/{user_id}/{p_x}/{p1}'])
  t.same(name('/a/{x}/{x}'), ['GET /a/{x}/{x2}'])
  t.same(name('/a/{x*}'), ['GET /a/*'])
  const parameter = { name: 'path', in: 'path', 'x-multi-segment': true }
  t.same(entries({ '/a/{path}': { parameters: [parameter], get: {} } }), ['GET /a/*: a:read'])
  for (const wrong of ['/a/{x}.json', '/a/{x}-{y}', '/a//b', '/a/../b', '/a?b', '/a;b', '/caf\u00e9'])
    t.match(remarks({ [wrong]: { get: {} } }), [/^GET .*: left out: /], wrong)
  t.match(remarks({ '/a/{x}': { get: {} }, '/a/{y}': { get: {} } }), [
    'GET /a/{y}: left out: it matches the same requests as GET /a/{x}',
  ])
  t.match(remarks({ '/a': { trace: {} } }), ['TRACE /a: left out: the gateway does not serve TRACE'])
  t.same(entries({ '/a': { get: {}, head: {} }, '/b': { head: {} } }), ['GET /a: a:list', 'HEAD /b: b:list'])
  t.same(entries({ '/a': { get: {}, head: { security: [] } } }), ['GET /a: a:list', 'HEAD /a: public review'])
})

t.test('servers', async (t) => {
  const at = (...servers: object[]) => entries({ '/a': { get: {} } }, { servers })
  t.same(at({ url: 'https://api.example/v2/' }), ['GET /v2/a: a:list'])
  t.same(at({ url: '/{base}', variables: { base: { default: 'v3' } } }), ['GET /v3/a: a:list'])
  t.same(at({ url: 'https://api.example' }), ['GET /a: a:list'])
  t.match(remarks({}, { servers: [{ url: '/a' }, { url: '/b' }] }), [
    'servers: its servers have different paths: the first one counts, /a',
  ])
  t.same(
    entries(
      { '/a': { servers: [{ url: '/own' }], get: {}, put: { servers: [{ url: '/other' }] } } },
      { servers: [{ url: '/v1' }] },
    ),
    ['GET /own/a: a:list', 'PUT /other/a: a:update'],
  )
  const swagger = readOperations({ swagger: '2.0', basePath: '/v1', paths: { '/a': { get: {} } } })
  t.equal(entriesOf(swagger, '{resource}:{verb}').entries[0]?.path, '/v1/a')
})

t.test('references', async (t) => {
  const components = { pathItems: { 'a/b': { get: { security: [] } } } }
  t.same(entries({ '/a': { $ref: '#/components/pathItems/a~1b' } }, { components }), [
    'GET /a: public review',
  ])
  t.match(remarks({ '/a': { $ref: 'other.yaml#/a' } }), [
    '/a: left out: other.yaml#/a is in another file, which is not read',
  ])
  t.same(entries({ '/a': { $ref: '#/paths/~1a' } }), [], 'a circle ends')
})

t.test('other documents', async (t) => {
  for (const wrong of [{}, [], null, 'x', { openapi: '4.0' }, { swagger: '1.2' }])
    t.throws(() => readOperations(wrong), { message: /neither "openapi" nor "swagger"|is not known/ })
  t.same(readOperations({ openapi: '3.0.3' }).operations, [])
})

t.test('a table, its drift, and its update', async (t) => {
  const head = { source: 'api.yaml', title: 'Shop\n1', upstream: 'shop' }
  const of = (paths: object) => entriesOf(described(paths), '{resource}:{verb}').entries
  const first = of({
    '/a': { get: { summary: 'All\nof: them # here' } },
    '/b/{id}': { get: { security: [] } },
  })
  const text = tableText(head, first)
  t.match(text, '# Made by seatgate import from api.yaml: Shop 1\n')
  t.match(text, '  GET /a: a:list # All of: them # here\n')
  t.match(text, '  GET /b/{id}: public # review: the description names no credential\n')
  const none = { missing: [], outside: [], surplus: [], other: [] }
  t.same(new OpenApiTable(text).drift(first), none)
  const byHand = text
    .replace('GET /a: a:list', '# ours\n  GET /a: things:search')
    .replace('GET /b/{id}', 'DELETE /own: own:delete\n  GET /b/{key}')
  t.match(new OpenApiTable(byHand).drift(first), { ...none, surplus: ['DELETE /own'] })
  const next = of({
    '/a': { get: { 'x-seatgate-permission': 'a:fixed' } },
    '/b/{id}': { get: {} },
    '/c': { put: { summary: 'New' } },
  })
  const updated = new OpenApiTable(byHand).updated(next)
  t.match(updated, '  # ours\n  GET /a: a:fixed')
  t.match(updated, '  DELETE /own: own:delete\n  GET /b/{key}: public # review')
  t.match(updated, '  PUT /c: c:update # New\n')
  t.match(updated, '# Made by seatgate import from api.yaml')
  t.same(new OpenApiTable(updated).updated(next), updated, 'nothing is left to do')
  const limits = new OpenApiTable(
    'upstream: x\nroutes:\n  GET /a: { permission: p:q, max_body: 1KiB }\n',
  ).updated(next)
  t.match(limits, 'GET /a: { permission: a:fixed, max_body: 1KiB }')
  for (const wrong of ['', 'a: 1', 'routes: 7', 'routes: [', '[]']) t.throws(() => new OpenApiTable(wrong))
})

t.test('an update keeps each line as it is written', async (t) => {
  const next = entriesOf(
    described({ '/a': { get: { 'x-seatgate-permission': 'a:fixed' } }, '/c': { put: { summary: 'New' } } }),
    '{resource}:{verb}',
  ).entries
  const added = 'PUT /c: c:update # New'
  const cases: (readonly [string, string, string])[] = [
    [
      'aligned',
      'routes:\n  GET   /own:   own:read\n  GET /a:    p:q   # ours\n',
      `    a:fixed   # ours\n  ${added}\n`,
    ],
    ['four spaces', 'routes:\n    GET /a: p:q\n', `    GET /a: a:fixed\n    ${added}\n`],
    ['none', 'routes:\nother: 1\n', ''],
    ['no end of the last line', 'routes:\n  GET /a: p:q', `  GET /a: a:fixed\n  ${added}`],
    ['a comment at the end', 'routes:\n  GET /a: p:q # x\n  # end\n', `a:fixed # x\n  ${added}\n  # end\n`],
    ['a key behind', 'routes:\n  GET /a: p:q\n\nupstream: x\n', `a:fixed\n  ${added}\n\nupstream: x\n`],
    ['carriage returns', 'routes:\r\n  GET /a: p:q\r\n', `  GET /a: a:fixed\r\n  ${added}\r\n`],
    [
      'a map',
      'routes:\n  GET /a:\n    permission: "p:q"\n    max_body: 1KiB # x\n',
      `permission: a:fixed\n    max_body: 1KiB # x\n  ${added}\n`,
    ],
    [
      'a map on one line',
      'routes:\n  GET /a: { permission: p:q }\n',
      `{ permission: a:fixed }\n  ${added}\n`,
    ],
    ['explicit keys', 'routes:\n  ? GET /a\n  : p:q\n', `  ? GET /a\n  : a:fixed\n  ${added}\n`],
    ['routes on one line', 'routes: { GET /a: p:q }\n', `  GET /a: a:fixed\n  ${added}\n`],
    ['an empty map', 'routes: {}\n', `  ${added}\n`],
    [
      'an anchor',
      'routes:\n  GET /a: &p p:q\n  GET /own: *p\n',
      `GET /a: &p a:fixed\n  GET /own: *p\n  ${added}\n`,
    ],
  ]
  for (const [name, text, expected] of cases) {
    if (expected === '') {
      t.throws(() => new OpenApiTable(text), name)
      continue
    }
    const updated = new OpenApiTable(text).updated(next)
    t.match(updated, expected, name)
    t.same(new OpenApiTable(updated).drift(next).missing, [], name)
    t.equal(new OpenApiTable(updated).updated(next), updated, `${name}: nothing is left to do`)
  }
})

t.test('a summary may be in the description', async (t) => {
  const summary = (operation: object) =>
    described({ '/a': { get: { operationId: 'listA', ...operation } } }).operations[0]?.summary
  t.equal(summary({ summary: 'All', description: 'Each.' }), 'All')
  t.equal(summary({ description: 'list objects of kind A. More of it' }), 'list objects of kind A.')
  t.equal(summary({ description: '\nfirst line\nsecond line' }), 'first line')
  t.equal(summary({ description: '' }), 'listA')
})

t.test('what is not taken is listed', async (t) => {
  const lost = (item: unknown, more: object = {}) => remarks({ '/a': item }, more)
  t.match(lost({ additionalOperations: { COPY: {}, get: {} } }), [
    'COPY /a: left out: operations of additionalOperations are not read',
    'GET /a: left out: operations of additionalOperations are not read',
  ])
  const components = { pathItems: { A: { get: {} } } }
  const $ref = '#/components/pathItems/A'
  t.match(
    lost({ $ref, summary: 'x', delete: {}, parameters: [], 'x-seatgate-permission': 'a:b' }, { components }),
    [
      'DELETE /a: left out: it stands beside a $ref',
      '/a parameters: left out: it stands beside a $ref',
      '/a x-seatgate-permission: left out: it stands beside a $ref',
    ],
  )
  t.match(lost({ $ref: '#/components/none' }), ['/a: left out: it refers to nothing'])
  t.match(lost({ $ref: '#/paths/~1a' }), ['/a: left out: its references do not end'])
  t.match(lost({ $ref: '#/constructor' }), ['/a: left out: it refers to nothing'])
  t.match(lost(null), ['/a: left out: it is no map'])
  t.match(lost([]), ['/a: left out: it is no map'])
  t.match(lost({ get: null }), ['GET /a: left out: it is no map'])
  t.match(lost({ GET: {} }), ['/a GET: left out: a method is in lower case'])
  t.match(lost({ gett: {} }), ['/a gett: left out: a path has no such field'])
  t.match(lost({ 'x-fallback': { responses: {} } }), ['/a x-fallback: left out: it looks like an operation'])
  t.same(lost({ 'x-internal': true, summary: 'x', description: 'y', servers: [], parameters: [] }), [])
  t.match(lost({ get: { security: { key: [] } } }), ['GET /a.security: it is no list'])
  t.throws(() => readOperations({ openapi: '3.1.0', paths: [] }), { message: 'its "paths" is no map' })
})

t.test('no wider entry with another permission serves a path with a parameter within a segment', (t) => {
  const pdf = { 'x-seatgate-permission': 'files:print' }
  const paths = { '/r/{id}': { get: {}, put: {} }, '/r/{id}.pdf': { get: pdf }, '/r/new': { get: {} } }
  t.same(entries(paths), ['PUT /r/{id}: r:update', 'GET /r/new: new:list'])
  t.match(remarks(paths), [
    'GET /r/{id}.pdf: left out: ',
    'GET /r/{id}: left out: it would serve requests of GET /r/{id}.pdf, which is left out',
  ])
  t.same(entries({ '/{path+}': { get: { security: [] } }, '/r/v{x}-{y}/a': { get: {} } }), [])
  t.same(entries({ '/r/{id}': { get: {} }, '/r/{id}.pdf': { get: {} } }), ['GET /r/{id}: r:read'])
  t.end()
})

t.test('operations for any method', async (t) => {
  const any = (name: string) => entries({ '/a': { [name]: { security: [] } }, '/b/{proxy+}': { [name]: {} } })
  for (const name of ['x-amazon-apigateway-any-method', 'x-any-method', 'x-yc-apigateway-any-method'])
    t.same(any(name), ['ANY /a: public review', 'ANY /b/*: b:any'], name)
  t.same(entries({ '/a': { 'x-any-method': {}, get: {}, trace: {} } }), ['ANY /a: a:any', 'GET /a: a:list'])
  for (const lost of [
    { get: null },
    { get: { 'x-seatgate-permission': 'x' } },
    { additionalOperations: { COPY: {} } },
  ]) {
    const paths = { '/a': { 'x-any-method': { security: [] }, ...lost } }
    t.same(entries(paths), [], 'ANY does not serve what is left out')
    t.match(remarks(paths).at(-1), 'ANY /a: left out: it would serve other operations')
  }
})

t.test('merge keys', async (t) => {
  const made = (text: string) =>
    entriesOf(readOperations(readDescription(text).value), '{resource}:{verb}').entries.map(
      ({ method, path, permission }) => `${method} ${path}: ${permission}`,
    )
  const head =
    'openapi: 3.0.0\nsecurity: []\nx-s: &s { security: [{ key: [] }] }\nx-t: &t { security: [], x-seatgate-permission: t:t }\nx-r: &r { get: { <<: *s } }\n'
  t.same(made(`${head}paths: { /a: { get: { <<: *s } } }`), ['GET /a: a:list'])
  t.same(made(`${head}paths: { /a: { <<: *r } }`), ['GET /a: a:list'])
  t.same(made(`${head}paths: { <<: { /a: *r }, /b: *r }`), ['GET /a: a:list', 'GET /b: b:list'])
  t.same(made(`${head}paths: { /a: { get: { <<: [*s, *t] } } }`), ['GET /a: t:t'], 'the first of a list')
  t.same(
    made(`${head}paths: { /a: { get: { <<: *t, security: [{ k: [] }], x-seatgate-permission: o:o } } }`),
    ['GET /a: o:o'],
  )
  t.same(
    made(`${head}paths: { /a: { get: { security: [], <<: *s } } }`),
    ['GET /a: public'],
    'its own, before',
  )
  t.throws(() => made(`${head}paths:\n  /a:\n    <<: 7\n`), {
    message: '<< merges maps alone',
    place: { line: 8, column: 5 },
  })
})

t.test(
  'aliases cost one pass of the text: a search of their anchors reads all of it each time',
  async (t) => {
    const searches = t.capture(Alias.prototype, 'resolve', Alias.prototype.resolve)
    const text = (alias: string) => `openapi: 3.1.0\nx: &x { get: {} }\ny: [${`${alias},`.repeat(1001)}]\n`
    for (const alias of ['*x', '{ <<: *x }', '{ <<: [*x, *x] }', '[*x, *y]'])
      t.throws(() => readDescription(text(alias)), { message: /an alias without|the aliases/ })
    const calls = searches()
    t.ok(calls.length > 0)
    // With a context, yaml keeps what it has found.
    t.same(calls.filter(({ args }) => args[1] === undefined).length, 0)
  },
)

t.test('places, and members that stand twice', async (t) => {
  const text = `{
 "openapi": "3.1.0", "x": [{"paths": 1}, "a:\\"", {"paths": 2}],
 "paths": {
  "/x/a": { "get": {} },
  "\\/a": {
   "get": { "security": [{ "k": [] }], "security": [] },
   "put": {} },
  "/b": { "get": { "security": [] } },
  "/b": { "put": { "security": [] } }
 }
}`
  const { value, twice, placeOf } = readDescription(text)
  t.same(twice, [
    ['paths', '/a', 'get', 'security'],
    ['paths', '/b'],
  ])
  t.same(placeOf(['paths', '/a', 'put']), { line: 7, column: 4 })
  t.same(placeOf(['paths', '/a', 'none', 'x']), { line: 5, column: 3 })
  t.same(placeOf(['paths', '/b']), { line: 9, column: 3 })
  const { entries: made, remarks: found } = entriesOf(readOperations(value, twice), '{resource}:{verb}')
  t.same(
    made.map(({ method, path, permission }) => `${method} ${path}: ${permission}`),
    ['GET /x/a: a:list', 'GET /a: a:list', 'PUT /a: a:update', 'PUT /b: b:update'],
    'neither of two opens a path',
  )
  t.match(found.map(remarkName), ['GET /a.security', '/b'])
  const yaml = readDescription(
    'openapi: 3.1.0\npaths:\n  /x/a:\n    get: {}\n  /a: &a\n    get: {}\n  /b: *a\n',
  )
  t.same(yaml.placeOf(['paths', '/a', 'get']), { line: 6, column: 5 })
  t.same(yaml.placeOf(['paths', '/b', 'get']), { line: 7, column: 3 })
})

t.test('what people write', async (t) => {
  for (const version of ['openapi: 3.0', 'openapi: 3.1', 'swagger: 2.0', '"swagger": 2.0'])
    for (const text of [`${version}\npaths: { /a: { get: {} } }`, `\uFEFF${version}\n`])
      t.ok(readOperations(readDescription(text).value), text)
  const json = readDescription(
    '\uFEFF{ "swagger": 2.0, "info": { "title": "x", "version": 7 }, "paths": {} }',
  )
  t.equal(readOperations(json.value).title, 'x 7')
  const at = (url: string) => entries({ '/a': { get: {} } }, { servers: [{ url }] })[0]?.split(' ')[1]
  for (const [url, path] of [
    ['//api.example/v2', '/v2/a:'],
    ['//api.example', '/a:'],
    ['https://api.example?x=/y', '/a:'],
    ['v2', '/v2/a:'],
    ['./v2/', '/v2/a:'],
    ['../v2', '/v2/a:'],
    ['/v1/../v2', '/v2/a:'],
    ['.', '/a:'],
    ['/', '/a:'],
  ] as const)
    t.equal(at(url), path, url)
  t.match(remarks({}, { servers: [{ url: 'v2' }] }), [
    'servers: v2 is relative to the place of the description: it counts as /v2',
  ])
  t.same(remarks({}, { servers: [{ url: '//h/v2' }] }), [])
})
