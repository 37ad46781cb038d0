/** The content hash of route tables: equal for tables that say the same, and for no others. */

import fc from 'fast-check'
import t, { type Test } from 'tap'
import { differences } from '../../src/access/difference.ts'
import type { RouteEntry, UpstreamConfig } from '../../src/config/config.ts'
import { contentHash } from '../../src/config/content-hash.ts'
import { pairs, readLine, type TablesInput, tablesOf, UPSTREAMS } from '../access/random-tables.ts'
import { Folder } from './support.ts'

const SECRET = 'secret-of-acme-secret-of-acme-secret'
const OIDC =
  'oidc: { issuer: "https://idp.example", client_id: a, client_secret: b, redirect_uri: "https://g.example/auth/oidc/callback" }'

interface Written {
  readonly main?: string
  readonly upstream?: string
  readonly tables?: Readonly<Record<string, string>>
}

const TABLES = {
  'routes/a.yaml': 'upstream: main\nroutes:\n  GET /a/{id}: p:q\n  ANY /b/*: public\n',
  'routes/b.yaml': 'upstream: main\nroutes:\n  GET /c: { permission: authenticated, sign_in: acme }\n',
}

async function hashOf(t: Test, { main = '', upstream = '', tables = TABLES }: Written = {}): Promise<string> {
  const text = `tenants: { acme: { token: { secrets: ['${SECRET}'] }, ${OIDC} }, other: { token: { secrets: ['${SECRET}2'] }, ${OIDC.replace('client_id: a', 'client_id: c').replace('callback"', 'callback/other"')} } }
upstreams: { main: { targets: ['http://127.0.0.1:9001']${upstream} }, second: { targets: ['http://127.0.0.1:9001'] } }
routes: [routes/*.yaml]
${main}`
  const { config, faults } = await new Folder(t, { 'gateway.config.yaml': text, ...tables }).load()
  if (config === null) throw new Error(faults.map(({ message }) => message).join('\n'))
  return config.hash
}

t.test('what decides nothing does not change it', async (t) => {
  const hash = await hashOf(t)
  t.match(hash, /^[0-9a-f]{12}$/)
  t.equal(await hashOf(t), hash, 'another folder')
  const [a, b] = [TABLES['routes/a.yaml'], TABLES['routes/b.yaml']]
  const same: readonly Written[] = [
    { tables: { 'routes/1.yaml': b, 'routes/2.yaml': a } },
    { tables: { 'routes/a.yaml': `${a}\n${b.split('routes:\n')[1]}` } },
    { tables: { ...TABLES, 'routes/a.yaml': `# a comment\n${a.replace('{id}', '{name}')}` } },
    { tables: { ...TABLES, 'routes/a.yaml': a.replace('p:q', '{ permission: p:q, max_body: 10MiB }') } },
    { upstream: ', response_timeout: 5s' },
    { main: 'drain: 5s\n' },
    { tables: { ...TABLES, 'routes/a.yaml': `space: { header: space }\n${a}` } },
  ]
  for (const each of same) t.equal(await hashOf(t, each), hash, JSON.stringify(each))
})

t.test('hosts: in whatever order, spelling and tables', async (t) => {
  const table = (hosts: string, text = TABLES['routes/a.yaml']) => `hosts: [${hosts}]\n${text}`
  const hash = await hashOf(t, { tables: { 'routes/a.yaml': table('a.example, b.example') } })
  t.equal(await hashOf(t, { tables: { 'routes/a.yaml': table('B.Example., A.example') } }), hash)
  const two = { 'routes/a.yaml': table('a.example'), 'routes/b.yaml': table('b.example') }
  t.equal(await hashOf(t, { tables: two }), hash)
  const param = (name: string) =>
    hashOf(t, {
      tables: {
        'routes/a.yaml': `space: { param: ${name} }\nupstream: main\nroutes: { "GET /{${name}}": p:q }\n`,
      },
    })
  t.equal(await param('a'), await param('b'), 'the name of a parameter')
  const kept = { 'routes/a.yaml': 'prefix: /p\nupstream: main\nroutes: { GET /a: p:q }\n' }
  const whole = { 'routes/a.yaml': 'upstream: main\nroutes: { GET /p/a: p:q }\n' }
  t.equal(await hashOf(t, { tables: kept }), await hashOf(t, { tables: whole }), 'a prefix that is kept')
})

t.test('tables without the newest keys keep the hash that they had', async (t) => {
  t.equal(await hashOf(t), 'e08b15017541')
})

t.test('what decides changes it', async (t) => {
  const [a] = [TABLES['routes/a.yaml']]
  const table = (text: string): Written => ({ tables: { ...TABLES, 'routes/a.yaml': text } })
  const [, b] = Object.values(TABLES)
  const others: readonly Written[] = [
    {},
    table(a.replace('GET', 'POST')),
    table(a.replace('/{id}', '/id')),
    table(a.replace('p:q', 'p:r')),
    table(a.replace('main', 'second')),
    table(a.replace('p:q', '{ permission: p:q, response_timeout: 5s }')),
    table(a.replace('p:q', '{ permission: p:q, max_body: 1KiB }')),
    table(a.replace('p:q', '{ permission: p:q, max_body: unlimited }')),
    { tables: { 'routes/a.yaml': a } },
    { tables: { ...TABLES, 'routes/b.yaml': (b ?? '').replace('sign_in: acme', 'sign_in: other') } },
    { main: 'methods: [LIST]\n' },
    { main: 'limits: { max_body: 1MiB }\n' },
    { upstream: ', allow_semicolons: true' },
    { upstream: ', allow_encoded_slashes: true' },
    { upstream: ', base_path: /api' },
    { main: 'api_hosts: [a.example]\n' },
    table(`host: a.example\n${a}`),
    table(`host: "*.example"\n${a}`),
    table(`hosts: [a.example, b.example]\n${a}`),
    table(`prefix: /p\n${a}`),
    table(`prefix: /p\nstrip_prefix: true\n${a}`),
    table(`space: { fixed: main }\n${a}`),
    table(`space: { fixed: other }\n${a}`),
    table(`space: { query: main }\n${a}`),
    table(`space: { host_label: 1 }\n${a}`),
    table(a.replace('p:q', '{ permission: p:q, space: { param: id } }')),
  ]
  const hashes = await Promise.all(others.map((each) => hashOf(t, each)))
  t.equal(new Set(hashes).size, others.length, hashes.join(' '))
})

const upstreams = UPSTREAMS as unknown as ReadonlyMap<string, UpstreamConfig>
/** Without entries that the table refuses. */
const entriesOf = (input: TablesInput): RouteEntry[] => {
  const kept = new Set(tablesOf(input).table.routes.map(({ place }) => place?.line))
  return input.lines.map(readLine).filter(({ place }) => kept.has(place.line))
}
const hashOfInput = (input: TablesInput) =>
  contentHash(entriesOf(input), { upstreams, methods: input.methods ?? [] })

/** The second table has the entries of the first in another order, and perhaps other methods. */
const reordered = pairs(2).map(([one, other]) => [one, { ...other, lines: one.lines.toReversed() }] as const)

t.test('random tables: equal hashes only where no request is answered differently', async (t) => {
  let equal = 0
  fc.assert(
    fc.property(fc.oneof(pairs(2), pairs(2), reordered), ([one, other]) => {
      if (hashOfInput(one) !== hashOfInput(other)) return
      equal++
      t.same(differences(tablesOf(one), tablesOf(other)), [])
    }),
    { numRuns: 100 },
  )
  t.ok(equal > 0, `${equal} pairs`)
})

t.test('random tables: the order of entries does not matter', async (t) => {
  fc.assert(
    fc.property(pairs(2), ([input]) => {
      const entries = entriesOf(input)
      const { methods = [] } = input
      t.equal(contentHash(entries.toReversed(), { upstreams, methods }), hashOfInput(input))
    }),
    { numRuns: 40 },
  )
})
