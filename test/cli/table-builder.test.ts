/** Many routes of the store are built by a thread, with the same result as a few, which are built at once. */

import t from 'tap'
import { tablesDigest } from '../../seats-admin/index.ts'
import { ConfigError } from '../../src/config/faults.ts'
import { loadWithTables } from '../../src/cli/load-tables.ts'
import { tablesWith } from '../../src/cli/table-builder.ts'
import { writeFiles } from '../support/configuration.ts'
import { serverFolder } from '../support/servers/folder.ts'

const folder = serverFolder(t, 'tables')
writeFiles(folder, {
  'gateway.config.yaml': `tenants: { acme: { token: { secrets: ['secret-of-acme-secret-of-acme-secret'] } } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'], pass_authorization: true } }
rate_limits: { reads: { limit: 9/s } }
tables: store
`,
})
const loaded = await loadWithTables(`${folder}/gateway.config.yaml`, {})
const build = tablesWith(loaded)
const versionOf = (files: Readonly<Record<string, string>>) => ({
  version: 4,
  digest: tablesDigest(files),
  files,
})

/** More than one message of the thread has. */
const ROUTES = 1200
const many = (requirement: (at: number) => string) =>
  `upstream: main\nrate_limit: [reads, own]\nrate_limits: { own: { limit: 2/s } }\nroutes:\n${Array.from(
    { length: ROUTES },
    (_, at) => `  GET /v1/things${at}/{id}: ${requirement(at)}\n`,
  ).join('')}`

t.test('the same tables', async (t) => {
  const version = versionOf({ 'a.yaml': many((at) => `things${at % 7}:read`) })
  const built = await build(version)
  const { config } = loaded.withTables(version)
  t.equal(built.routes.length, ROUTES)
  t.equal(built.hash, config.hash)
  t.strictSame(built.routes, config.routes)
  t.strictSame([...built.rateLimits], [...config.rateLimits])
  t.same(built.tableSet, { version: 4, digest: version.digest })
  t.ok(Object.isFrozen(built.routes[ROUTES - 1]))
})

t.test('faults of the files and of the router, at their places', async (t) => {
  const text = `${many((at) => (at === 1100 ? 'things:*' : 'things:read'))}  GET /v1/things7/{other}: a:b\n`
  const faults = await build(versionOf({ 'a.yaml': text })).then(
    () => [],
    (cause: unknown) => (cause instanceof ConfigError ? cause.faults : [cause]),
  )
  t.match(faults, [
    { place: { file: 'a.yaml', line: 1105 }, message: /has a wildcard in one part/ },
    { place: { file: 'a.yaml', line: 1205 }, message: /GET \/v1\/things7\/\{other\}/ },
  ])
  t.equal(faults.length, 2)
})

t.test('several at the same time', async (t) => {
  const versions = ['read', 'write', 'list'].map((each) =>
    versionOf({ 'a.yaml': many(() => `things:${each}`) }),
  )
  const built = await Promise.all(versions.map((each) => build(each)))
  t.same(
    built.map(({ routes }) => routes[3]?.requirement),
    ['things:read', 'things:write', 'things:list'],
  )
})
