/** Path templates of frameworks in a description: one that is not the rest of the path never becomes it. */

import fc from 'fast-check'
import t from 'tap'
import { entriesOf } from '../../src/access/openapi/operation-entries.ts'
import { readOperations, remarkName } from '../../src/access/openapi/operations.ts'
import { amount } from '../support/thorough.ts'

function read(...paths: string[]) {
  const operations = paths.map((path) => [
    path,
    { get: { 'x-seatgate-permission': `x:${paths.indexOf(path)}` } },
  ])
  const described = readOperations({ openapi: '3.1.0', paths: Object.fromEntries(operations) })
  const { entries, remarks } = entriesOf(described, '{resource}:{verb}')
  return {
    paths: entries.map(({ path }) => path),
    remarks: remarks.map((remark) => `${remarkName(remark)}: ${remark.message}`),
  }
}

/** Each is the rest of the path for the framework that has it. */
const REST = ['+p', 'p+', 'p*', '*p', '**p', 'p...', 'p:.*', 'p:.+', 'p: .+', 'p<.*>', 'p<.+>', 'p=**']
/** Each is one segment, and a table says all that it says. */
const SEGMENT = ['p', 'p:[^/]+', 'p : [^/]+', 'p=*']
/** Each says more than a table has, or less than it seems to. */
const OTHER = [
  'p:[0-9]+',
  'p:\\d+',
  'p:[a-z]*',
  'p<\\d+>',
  'p:int',
  'p:int?',
  'p?',
  'p=5',
  'p:path',
  'p:[0-9]{4}',
  'p:.{3}',
  'p:\\S+',
  'p:regex(^a+$)',
  'p<[a-z]+>',
  'p:a.*',
  'p:.*b',
  'p<.*>?x',
  'p:[^x]+',
  'p:(?s).*',
  '*p:int',
  'p*2',
  ';p',
  '.p*',
  '?p',
  '&p*',
  '#p',
  'p,q*',
  'p+q',
  'p=*x',
  'p=a*',
  'p:**',
  '*',
  '+',
  'p:.*+',
  'p....+',
]

t.test('only the rest of the path becomes *', async (t) => {
  for (const form of REST) {
    t.same(read(`/a/{${form}}`), { paths: ['/a/*'], remarks: [] }, form)
    const inner = read(`/a/{${form}}/b`)
    t.same(inner.paths, ['/a/{p}/b'], `${form} in the middle`)
    t.match(inner.remarks, [/^GET .* counts as one segment/], `${form} in the middle is listed`)
  }
  for (const form of SEGMENT) t.same(read(`/a/{${form}}`), { paths: ['/a/{p}'], remarks: [] }, form)
  for (const form of OTHER)
    for (const end of ['', '/b']) {
      const { paths, remarks } = read(`/a/{${form}}${end}`)
      t.match(paths.join(), new RegExp(`^/a/\\{\\w+\\}${end}$`), `${form} is one segment`)
      t.match(remarks, [/^GET .* counts as one segment of any text/], `${form} is listed`)
    }
})

t.test('parameters with slashes, as the description says, once for all operations', async (t) => {
  const parameters = [{ name: 'branch', in: 'path', 'x-multi-segment': true }]
  const item = { parameters, get: {}, put: {} }
  const paths = { '/a/{branch}/b': item, '/c/{branch}/d': item, '/e/{branch}': item }
  const { entries, remarks } = entriesOf(readOperations({ openapi: '3.1.0', paths }), 'x:{verb}')
  t.same([...new Set(entries.map(({ path }) => path))], ['/a/{branch}/b', '/c/{branch}/d', '/e/*'])
  t.match(remarks, [
    {
      at: ['paths', '/a/{branch}/b', 'get'],
      message: /^\{branch\} counts as one segment, here and in 3 more operations/,
    },
  ])
  t.equal(remarks.length, 1)
})

t.test('no template becomes the rest, or loses what it says, without a line', async () => {
  const text = fc.string({
    unit: fc.constantFrom(...'ab.*+?:<>=[]{}()^/|,;#&$\\0{}'),
    minLength: 1,
    maxLength: 12,
  })
  const isRest = (form: string) => REST.some((each) => form.replace(/[ab0$.]*[ab0$][ab0$.]*/, 'p') === each)
  /** Others, such as `}/{`, make several parameters of `{}`. */
  const isOne = (form: string) => {
    let depth = 0
    const depths = [...form].map((char) => (depth += Number(char === '{') - Number(char === '}')))
    return depth === 0 && depths.every((each) => each >= 0)
  }
  fc.assert(
    fc.property(text, fc.constantFrom('', '/b'), (form, end) => {
      const { paths, remarks } = read(`/a/{${form}}${end}`)
      const [path] = paths
      if (path === undefined) return remarks.length > 0
      if (!isOne(form))
        return !path.endsWith('*') || (end === '' && isRest(form.slice(form.lastIndexOf('{') + 1)))
      if (path === '/a/*') return end === '' && isRest(form)
      if (!/^\/a\/\{\w+\}(?:\/b)?$/.test(path)) return false
      return remarks.length > 0 || /^[ab0.$]+$/.test(form) || form.endsWith(':[^/]+') || form.endsWith('=*')
    }),
    { numRuns: amount({ usual: 2000, thorough: 200_000 }) },
  )
})

t.test('what is no parameter of OpenAPI', async (t) => {
  for (const path of [
    '/a/*',
    '/a/*/b',
    '/a/**',
    '/a/{p}*',
    '/a/{p:x/y}',
    '/a/{p=b/*}',
    '/a/{p:[}]}',
    '/a/{p:\\{}',
  ]) {
    const { paths, remarks } = read(path)
    t.same(paths, [], path)
    t.match(remarks, [/^GET .*: left out: /], path)
  }
  for (const path of ['/a/:id', '/a/<int:id>', '/a/<path:p>']) {
    const { paths, remarks } = read(path)
    t.same(paths, [path], 'no request has this path')
    t.match(remarks, [/ counts as the text that it is/], path)
  }
  t.same(read('/a/b:do').remarks, [], 'a verb of its own behind a colon is part of a text')
})

t.test('operations that only their patterns tell apart', async (t) => {
  const { paths, remarks } = read('/a/{id:[0-9]+}', '/a/{name:[a-z]+}', '/a/{x}', '/b')
  t.same(paths, ['/b'], 'the permission of one is not that of the other')
  t.match(remarks.slice(-1), [
    'GET /a/{id:[0-9]+}: left out: a table cannot tell its requests from those of GET',
  ])
  const same = { 'x-seatgate-permission': 'x:y', get: {} }
  const described = readOperations({ openapi: '3.1.0', paths: { '/a/{p:[0-9]+}': same, '/a/{q}': same } })
  t.equal(entriesOf(described, 'x:{verb}').entries.length, 1)
})

t.test('what is left out is not served by a wider entry: its permission is another', async (t) => {
  const twins = ['/a/b/{id:[0-9]+}', '/a/b/{name:[a-z]+}']
  for (const wider of ['/{all+}', '/a/{all+}', '/a/b/{all+}', '/{x}/b/{y}', '/a/{x}/me', '/a/{x}/{y:int}']) {
    const { paths, remarks } = read(wider, ...twins, '/a/b/me', '/a/b', '/a/c/{x}/{y}')
    t.same(
      paths,
      ['/a/b/me', '/a/b', '/a/c/{x}/{y}'],
      `${wider}: those stay which match none of their requests`,
    )
    t.match(remarks.join('\n'), `${wider}: left out: it would serve requests of GET /a/b/{`)
  }
  t.same(read('/{x}/c/{y}', '/{all+}', ...twins).paths, ['/{x}/c/{y}'])
  t.same(read('/{x}/c', '/a/{all+}', ...twins).paths, [], 'it would serve /a/c, which is of /a/*')

  const open = { security: [] }
  const [one, other] = ['a:b', 'c:d'].map((permission) => ({ 'x-seatgate-permission': permission }))
  const methods = {
    '/a/{id:[0-9]+}': { get: one, post: one },
    '/a/{name:[a-z]+}': { get: other, post: one },
    '/{all+}': { get: open, post: open, put: open },
  }
  const { entries } = entriesOf(readOperations({ openapi: '3.1.0', paths: methods }), 'x:{verb}')
  t.same(
    entries.map(({ method, path }) => `${method} ${path}`),
    ['POST /a/{id}', 'POST /*', 'PUT /*'],
    'of the same method alone',
  )
})

t.test('the path of a server with several values', async (t) => {
  const of = (url: string, variable: object) =>
    readOperations({
      openapi: '3.1.0',
      paths: { '/a': { get: {} } },
      servers: [{ url, variables: { v: { default: 'v1', ...variable } } }],
    })
  t.match(of('/{v}', { enum: ['v1', 'v2'] }).remarks, [{ message: '{v} can have other values' }])
  t.match(of('https://x.example/{v}', {}).remarks, [{ message: '{v} can have other values' }])
  t.same(of('/{v}', { enum: ['v1'] }).remarks, [])
  t.same(of('https://{v}.example/x', {}).remarks, [], 'the host is not in the table')
})
