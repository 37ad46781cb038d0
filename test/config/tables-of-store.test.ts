/** Tables of the store: `tables:` of the main file, and the texts of a version. */

import t, { type Test } from 'tap'
import { NO_TABLES } from '../../seats-admin/model/tables-version.ts'
import { BASE, Folder } from './support.ts'

const FILES = {
  'gateway.config.yaml': `${BASE}tables: store\nrate_limits: { writes: { limit: 5/s }, reads: { limit: 9/s } }\n`,
}
const TABLE = 'upstream: main\nroutes:\n  GET /a: a:read\n'

async function built(test: Test, files: Readonly<Record<string, string>>, main = FILES) {
  const { config, withTables } = await new Folder(test, main).load()
  test.ok(config, 'the main file has no fault')
  return withTables({ version: 3, digest: 'd', files })
}

t.test('tables are in files by default', async (t) => {
  const { config } = await new Folder(t, { 'gateway.config.yaml': BASE }).load()
  t.same(config?.tables, { from: 'files' })
  t.same(config?.tableSet, { version: 0, digest: NO_TABLES.digest })
})

t.test('tables: store has the tenant and the cache of its defaults', async (t) => {
  const folder = new Folder(t, FILES)
  const { config } = await folder.load()
  t.same(config?.tables, { from: 'store', tenant: 'acme', cache: folder.file('seatgate-tables.json') })
  t.same(config?.routes, [], 'the store has none yet')
})

t.test('the long form names tenant and cache', async (t) => {
  const text = `${BASE}tables: { from: store, tenant: acme, cache: x/tables.json }\n`
  const folder = new Folder(t, { 'gateway.config.yaml': text })
  const { config } = await folder.load()
  t.same(config?.tables, { from: 'store', tenant: 'acme', cache: folder.file('x/tables.json') })
})

for (const [what, line, place] of [
  ['another place', 'tables: redis', '3:9'],
  ['no place', 'tables: { tenant: acme }', '3:1'],
  ['a tenant that there is not', 'tables: { from: store, tenant: acne }', '3:32'],
  ['files beside it', "tables: store\nroutes: ['*.txt']", '4:1 4:10'],
  ['an empty cache', "tables: { from: store, cache: '' }", '3:31'],
] as const)
  t.test(`${what} is a fault`, async (t) => {
    await new Folder(t, { 'gateway.config.yaml': `${BASE}${line}\n` }).faultsAt(t, place)
  })

t.test('several tenants need one that manages the tables', async (t) => {
  const text = BASE.replace(
    ' } } }',
    " } }, other: { token: { secrets: ['other-secret-other-secret-other-secret-12'] } } }",
  )
  await new Folder(t, { 'gateway.config.yaml': `${text}tables: store\n` }).faultsAt(t, '3:9')
})

t.test('the files of a version are one configuration', async (t) => {
  const { config, faults } = await built(t, { 'a.yaml': TABLE, 'b.yaml': TABLE.replaceAll('/a', '/b') })
  t.same(faults, [])
  t.same(
    config?.routes.map(({ path, place }) => [path, place.file]),
    [
      ['/a', 'a.yaml'],
      ['/b', 'b.yaml'],
    ],
  )
  t.same(config?.tableSet, { version: 3, digest: 'd' })
  const files = await new Folder(t, {
    'gateway.config.yaml': FILES['gateway.config.yaml'].replace('tables: store', "routes: ['r.yaml']"),
    'r.yaml': `${TABLE}  GET /b: a:read\n`,
  }).load()
  t.equal(config?.hash, files.config?.hash, 'and have the hash of the same tables in files')
})

t.test('a faulty file is a fault at its place', async (t) => {
  const { config, faults } = await built(t, {
    'a.yaml': TABLE.replace('a:read', 'a:*'),
    'b.yaml': 'routes: [',
  })
  t.equal(config, null)
  t.same(
    faults.map(({ place: { file, line } }) => `${file}:${line}`),
    ['a.yaml:3', 'b.yaml:1'],
  )
})

for (const [name, text] of [
  ['${HOME}', TABLE.replace('upstream: main', "upstream: '${HOME}'")],
  ['${HOME:-main}', TABLE.replace('upstream: main', "upstream: '${HOME:-main}'")],
  ['${file:/etc/hostname}', TABLE.replace('upstream: main', "upstream: '${file:/etc/hostname}'")],
] as const)
  t.test(`${name} is a fault: instances would read different tables`, async (t) => {
    const { config, faults } = await built(t, { 'a.yaml': text })
    t.equal(config, null)
    t.match(faults[0]?.message, 'has a variable: tables in the store are the same for all instances')
  })

t.test('rate limits of the files count for all of them, and before those of the configuration', async (t) => {
  const { config, faults } = await built(t, {
    'limits.yaml': 'rate_limits: { writes: { limit: 7/s } }\n',
    'a.yaml': `${TABLE.replace('routes:', 'rate_limit: [writes, reads, own]\nroutes:')}rate_limits: { own: { limit: 2/s } }\n`,
  })
  t.same(faults, [])
  t.same(
    config?.routes[0]?.rateLimits?.map(({ name, limit }) => [name, limit]),
    [
      ['writes', 7],
      ['reads', 9],
      ['own', 2],
    ],
  )
  t.same([...(config?.rateLimits.keys() ?? [])].sort(), ['own', 'reads', 'writes'])
})

t.test('a rate limit in two files is a fault', async (t) => {
  const limits = 'rate_limits: { own: { limit: 2/s } }\n'
  const { faults } = await built(t, { 'a.yaml': limits, 'b.yaml': limits })
  t.same(
    faults.map(({ place: { file, line } }) => `${file}:${line}`),
    ['b.yaml:1'],
  )
})

t.test('a file that is neither a table nor has rate limits is a fault', async (t) => {
  const { faults } = await built(t, { 'a.yaml': 'prefix: /a\n', 'b.yaml': 'rate_limits: {}\nroutes: {}\n' })
  t.same(
    faults.map(({ place: { file }, message }) => `${file}: ${message}`),
    [
      'a.yaml: the file must have the key "upstream"',
      'a.yaml: the file must have the key "routes"',
      'b.yaml: the file must have the key "upstream"',
    ],
  )
})

t.test('a file may guard an MCP server alone', async (t) => {
  const mcp = `upstream: main
mcp:
  path: /mcp
  resource: https://gw.example/mcp
  authorization_servers: [https://login.example]
  tools: { get: a:read }
`
  const { config, faults } = await built(t, { 'a.yaml': mcp })
  t.same(faults, [])
  t.ok((config?.routes.length ?? 0) > 0)
})

t.test('a comment in a file accepts its warnings', async (t) => {
  const crossing = 'upstream: main\n# seatgate: accept no_such_code\nroutes:\n  GET /a: a:read\n'
  const { faults } = await built(t, { 'a.yaml': crossing })
  t.match(faults[0]?.message, '"no_such_code" is not the code of a warning')
})
