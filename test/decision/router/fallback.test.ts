/** The warnings of `check` about entries whose other methods fall back to an entry that requires less. */

import fc from 'fast-check'
import t from 'tap'
import type { RouteEntry } from '../../../src/config/config.ts'
import { compileTable } from '../../../src/decision/router/table.ts'

const upstreams = new Map([['a', { allowSemicolons: false, allowEncodedSlashes: false }]])

/** @param lines `METHOD /path: requirement` */
function compile(lines: readonly string[]) {
  const entries = lines.map((text, at): RouteEntry => {
    const [, method = '', path = '', requirement = ''] = /^(\S+) (\S+): (.+)$/.exec(text) ?? []
    const place = { file: 'routes/a.yaml', line: at + 1, column: 3 }
    return {
      method,
      path,
      requirement,
      upstream: 'a',
      responseTimeout: null,
      signIn: null,
      maxBody: 1,
      place,
    }
  })
  return compileTable(entries, upstreams, [])
}

const warningsOf = (...lines: string[]) =>
  compile(lines)
    .warnings.filter(({ message }) => message.includes('can fall back to'))
    .map(({ place, message }) => `${place?.line} ${message.replace(/\. To resolve .*/, '')}`)

t.test('a warning names the entry, the methods, and the fallback', async (t) => {
  t.same(warningsOf('GET /v1/admin/x: admin:x', 'ANY /v1/*: public'), [
    '1 GET /v1/admin/x requires admin:x, but POST, PUT, PATCH, DELETE of its path can fall back to ANY /v1/* (routes/a.yaml:2), which requires less: public',
  ])
  t.same(
    warningsOf(
      'POST /a/{x}: authenticated',
      'GET /{y}/*: p:q',
      'GET /{y}/{z}: authenticated',
      'GET /a/*: public',
    ),
    [
      '1 POST /a/{x} requires authenticated, but GET of its path can fall back to GET /a/* (routes/a.yaml:4), which requires less: public',
    ],
  )
})

for (const [name, lines, count] of [
  ['a parameter', ['GET /a/b: x:y', 'ANY /a/{z}: public'], 1],
  ['a rest further up', ['GET /a/b/c: x:y', 'ANY /*: authenticated'], 1],
  ['*, which only a Seat with * holds', ['GET /a: "*"'.replaceAll('"', ''), 'ANY /*: x:y'], 1],
  ['one of several methods', ['GET /a: x:y', 'POST /a: x:z', 'ANY /*: public'], 1],
  ['a rest within a rest', ['GET /a/*: x:y', 'ANY /*: public'], 1],
  ['entries that cross', ['GET /a/{x}: x:y', 'POST /{y}/b: public'], 1],
  ['a rest that crosses', ['GET /a/*: x:y', 'POST /{y}/b/c: public'], 1],
  [
    'a rest whose first depth another entry matches',
    ['POST /b/*: x:y', 'GET /b/{x}: public', 'GET /{y}/*: public'],
    1,
  ],
  ['a method that is listed', ['GET /a: x:y', 'LIST /*: public'], 1],
  ['two entries that require less', ['GET /a/b: x:y', 'POST /a/{x}: public', 'PUT /*: authenticated'], 2],
  ['the nearest one only', ['GET /a/b: x:y', 'ANY /a/{x}: p:q', 'ANY /*: public'], 0],
  ['as much', ['GET /a: x:y', 'ANY /*: p:q'], 0],
  ['more', ['GET /a: authenticated', 'ANY /*: x:y'], 0],
  ['public entries', ['GET /a: public', 'ANY /*: public'], 0],
  ['all methods', ['ANY /a: x:y', 'ANY /*: public'], 0],
  ['an entry with every method', ['GET /a: x:y', 'ANY /a: "*"'.replaceAll('"', ''), 'ANY /*: public'], 0],
  ['the same method', ['GET /a: x:y', 'GET /*: public'], 0],
  ['HEAD', ['GET /a: x:y', 'HEAD /*: public'], 0],
  ['OPTIONS', ['GET /a: x:y', 'OPTIONS /*: public'], 0],
  ['other paths', ['GET /a/b: x:y', 'ANY /b/*: public', 'ANY /a/b/{c}: public', 'ANY /a: public'], 0],
  ['a path that is narrower', ['GET /a/*: x:y', 'ANY /a/b: public', 'POST /a/{c}/d: public'], 0],
  ['a path that the other does not reach', ['GET /a/{x}: x:y', 'POST /{y}/b: public', 'ANY /a/b: p:q'], 0],
] as const)
  t.test(`${count === 0 ? 'no warning' : 'warning'}: ${name}`, async (t) => {
    const { faults } = compile(lines)
    t.same(faults, [])
    t.equal(warningsOf(...lines).length, count, warningsOf(...lines).join('\n'))
  })

t.test('exactly the warned fallbacks happen', async () => {
  const segment = fc.constantFrom('a', 'b', '{x}', '*')
  const path = fc
    .array(segment, { minLength: 1, maxLength: 3 })
    .map((parts) => parts.filter((part, at) => part !== '*' || at === parts.length - 1))
    .map((parts) => `/${parts.map((part, at) => (part === '{x}' ? `{x${at}}` : part)).join('/')}`)
  const line = fc
    .tuple(fc.constantFrom('GET', 'POST', 'ANY'), path, fc.constantFrom('public', 'authenticated', 'x:y'))
    .map(([method, at, requirement]) => `${method} ${at}: ${requirement}`)
  const RANK: Record<string, number> = { public: 0, authenticated: 1, 'x:y': 2 }
  const parts = ['a', 'b', 'c']
  const paths = parts.flatMap((one) => [
    `/${one}`,
    ...parts.flatMap((two) => [`/${one}/${two}`, ...parts.map((three) => `/${one}/${two}/${three}`)]),
  ])
  fc.assert(
    fc.property(fc.array(line, { minLength: 2, maxLength: 5 }), (lines) => {
      const { table, warnings } = compile(lines)
      const known = warnings.filter(({ message }) => message.includes('can fall back to')).length > 0
      const happens = paths.some((each) => {
        const answers = ['GET', 'POST'].map((method) => table.match(method, each)?.route ?? null)
        return answers.some((from) =>
          answers.some((to) => {
            if (from === null || to === null || from === to || from.method === 'ANY') return false
            if ((RANK[to.requirement] ?? 0) >= (RANK[from.requirement] ?? 0)) return false
            // The fallback's path is wider, not the same or narrower.
            return (
              from.path.replaceAll(/\{x\d\}/g, '{}') !== to.path.replaceAll(/\{x\d\}/g, '{}') &&
              isFirst(from.path, to.path)
            )
          }),
        )
      })
      if (happens && !known) throw new Error(`no warning: ${lines.join(' | ')}`)
    }),
    { numRuns: 5000 },
  )
})

/** Whether the first path is matched before the second: it is narrower at the first segment that differs. */
function isFirst(one: string, two: string): boolean {
  const kind = (text = '') => (text === '*' ? 2 : text.startsWith('{') ? 1 : 0)
  const [a, b] = [one.split('/'), two.split('/')]
  const at = a.findIndex((each, index) => kind(each) !== kind(b[index]))
  return at >= 0 && kind(a[at]) < kind(b[at])
}

t.test('parameters in the syntax of other routers', async (t) => {
  const foreign = (path: string) =>
    compile([`GET ${path}: x:y`]).warnings.map(({ place, message }) => `${place?.line} ${message}`)
  t.same(foreign('/a/:id'), ['1 GET /a/:id: ":id" is a static segment; write a parameter as {id}'])
  t.match(foreign('/:org/b/:repo_id'), [/":org" .*; ":repo_id" .*\{repo_id\}/])
  for (const path of ['/a/b:cancel', '/a/{id}', '/a/:', '/a/:1', '/a/:a-b', '/a/x:id', '/a/::'])
    t.same(foreign(path), [], path)
})

t.test('ten thousand entries are checked', async (t) => {
  const lines = ['ANY /*: public']
  for (let at = 0; at < 10_000; at++) lines.push(`ANY /s${at}/{x}/t: x:y`)
  t.same(warningsOf(...lines), [])
})
