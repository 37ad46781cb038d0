import { symlinkSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { ConfigError } from '../../src/config/faults.ts'
import { loadConfig, loadConfigWithFaults } from '../../src/config/load.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import { BASE, configOf, Folder, SECRET } from './support.ts'

t.test('omitted settings have their defaults', async (t) => {
  const folder = new Folder(t, { 'gateway.config.yaml': BASE })
  const { config } = await folder.load()
  t.match(config, {
    listen: [{ host: '0.0.0.0', port: 8080 }],
    ops: { host: '127.0.0.1', port: 9090 },
    store: { kind: 'sqlite', path: folder.file('data/seatgate.db') },
    defaultTenant: 'acme',
    trustedProxies: [],
    drain: 30_000,
    routes: [],
  })
  const token = config?.tenants.get('acme')?.token
  t.equal(config?.tenants.get('acme')?.adminSpace, 'admin')
  t.match(token, { algorithm: 'HS256', lifetime: 3_600_000, leeway: 0 })
  t.same(Buffer.from(token?.secrets[0] ?? []).toString(), SECRET)
  t.match(config?.upstreams.get('main'), {
    name: 'main',
    connectTimeout: 3000,
    responseTimeout: 30_000,
    passAuthorization: false,
    passHost: false,
    passOverrides: false,
    allowSemicolons: false,
    allowEncodedSlashes: false,
  })
  t.same(
    config?.upstreams.get('main')?.targets.map((url) => url.origin),
    ['http://127.0.0.1:9001'],
  )
})

t.test('given settings apply', async (t) => {
  const config = await configOf(
    t,
    `listen: '[::1]:0'
ops: localhost:1
workers: 1
store: sqlite:/var/lib/x.db
default_tenant: b
trusted_proxies: [10.0.0.0/8, '::1']
drain: 5s
tenants:
  a: { admin_space: Ops.1~x, token: { secrets: [${'a'.repeat(32)}, ${'b'.repeat(32)}], algorithm: HS512, lifetime: 7d, leeway: 250ms } }
  b: { token: { secrets: ['base64url:${Buffer.alloc(32, 255).toString('base64url')}'] } }
upstreams:
  u:
    targets: ['https://Example.com:443']
    connect_timeout: 1ms
    response_timeout: 24d
    pass_authorization: true
    pass_host: true
    pass_overrides: true
    allow_semicolons: true
    allow_encoded_slashes: true
`,
  )
  t.match(config, {
    listen: [{ host: '::1', port: 0 }],
    ops: { host: 'localhost', port: 1 },
    store: { path: '/var/lib/x.db' },
    defaultTenant: 'b',
    trustedProxies: ['10.0.0.0/8', '::1'],
    drain: 5000,
  })
  t.match(config.tenants.get('a'), {
    id: 'a',
    adminSpace: 'Ops.1~x',
    token: { algorithm: 'HS512', lifetime: 7 * 86_400_000, leeway: 250 },
  })
  t.equal(config.tenants.get('a')?.token.secrets.length, 2)
  t.same(config.tenants.get('b')?.token.secrets, [new Uint8Array(32).fill(255)])
  t.match(config.upstreams.get('u'), {
    connectTimeout: 1,
    responseTimeout: 24 * 86_400_000,
    passAuthorization: true,
    passHost: true,
    passOverrides: true,
    allowSemicolons: true,
    allowEncodedSlashes: true,
  })
  t.equal(config.upstreams.get('u')?.targets[0]?.origin, 'https://example.com')
})

t.test('all errors of all files at once, main file first, by position', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': `drain: 5
tenants: { acme: { token: { secrets: [short] } } }
listen: nowhere
routes: [b.yaml, a.yaml, none/*.yaml]
upstreams: { main: { targets: ['\${NOT_SET}'] } }
`,
    'a.yaml': 'upstream: mian\nroutes:\n  GET /a: a:*\n',
    'b.yaml': 'upstream: main\nroutes:\n  GET /b: [\n',
  })
  await folder.faultsAt(t, '1:8 2:39 3:9 4:26 5:32 b.yaml:3:11 a.yaml:1:11 a.yaml:3:11')

  const error = await loadConfig(folder.file('gateway.config.yaml'), {}).catch((cause: unknown) => cause)
  if (!(error instanceof ConfigError)) throw error
  t.equal(error.faults.length, 8)
  t.equal(error.message.split('\n').length, 8, 'one line each')
  t.same(
    error.files,
    ['gateway.config.yaml', '.env', 'b.yaml', 'a.yaml', 'none/*.yaml'].map((each) => folder.file(each)),
  )
})

t.test(
  'a file is named as the user names it: relative below the working directory, otherwise absolute',
  async (t) => {
    const before = process.cwd()
    t.teardown(() => process.chdir(before))
    const folder = new Folder(t, { 'sub/g.yaml': 'a: 1\n', 'g.yaml': 'a: 1\n' })
    process.chdir(folder.file('sub'))
    const name = async (file: string) => (await loadConfigWithFaults(file, {})).faults[0]?.place.file
    t.equal(await name('g.yaml'), 'g.yaml')
    t.equal(await name(folder.file('sub/g.yaml')), 'g.yaml')
    t.equal(await name('./../sub/../sub/g.yaml'), 'g.yaml')
    t.equal(await name('../g.yaml'), folder.file('g.yaml'))
  },
)

t.test('the result is immutable', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [r.yaml]\ntrusted_proxies: ['::1']\n`,
    'r.yaml': 'upstream: main\nroutes: { GET /a: a:b }\n',
  })
  const { config } = await folder.load()
  if (config === null) throw new Error('has faults')
  const tenant = config.tenants.get('acme')
  const upstream = config.upstreams.get('main')
  const parts = { config, tenant, token: tenant?.token, secrets: tenant?.token.secrets, upstream }
  const more = { targets: upstream?.targets, listen: config.listen, ops: config.ops, store: config.store }
  const lists = { routes: config.routes, entry: config.routes[0], place: config.routes[0]?.place }
  const rest = { files: config.files, proxies: config.trustedProxies }
  for (const [name, part] of Object.entries({ ...parts, ...more, ...lists, ...rest })) {
    t.ok(part, name)
    t.ok(Object.isFrozen(part), `${name} is frozen`)
  }
  for (const map of [config.tenants, config.upstreams] as Map<string, unknown>[]) {
    t.throws(() => map.set('x', 1))
    t.throws(() => map.delete('acme'))
    t.throws(() => map.clear())
    t.equal(map.size, 1)
  }
})

t.test('route tables by name and by glob', async (t) => {
  const table = (path: string) => `upstream: main\nroutes: { GET /${path}: a:b }\n`
  const folder = new Folder(t, {
    'conf/gateway.config.yaml': `${BASE}routes: [../tables/*.yaml, ../tables/a.yaml, './x/../../tables/{a,b}.yaml', 'odd[1].yaml']\n`,
    'tables/b.yaml': table('b'),
    'tables/a.yaml': table('a'),
    'tables/.hidden.yaml': 'not a table',
    'tables/notes.txt': 'not a table',
    'conf/odd[1].yaml': table('odd'),
  })
  symlinkSync('a.yaml', folder.file('tables/twin.yaml'))
  const { config, faults } = await folder.load({}, 'conf/gateway.config.yaml')
  t.same(faults, [])
  t.same(config?.routes.map((entry) => entry.path).sort(), ['/a', '/b', '/odd'], 'each file once')
  t.ok(
    config?.routes.every((entry) => entry.upstream === 'main'),
    'two tables for one upstream',
  )
})

t.test('a named table that is missing', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes:\n  - none.yaml\n  - no/*.yaml\n  - folder\n  - dangling.yaml\n  - ${'x'.repeat(70_000)}*\n`,
    'folder/a.yaml': '',
  })
  symlinkSync('nowhere', folder.file('dangling.yaml'))
  await folder.faultsAt(t, '4:5 5:5 8:5 folder:1:1 dangling.yaml:1:1')
})

t.test('a match of a glob that is not a file is an error: no table is dropped silently', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: ['tables/*.yaml', 'deep/**/*.yaml']\n`,
    'tables/a.yaml': 'upstream: main\nroutes: { GET /a: a:b }\n',
    'tables/made.yaml/x.txt': 'a container runtime makes the folder where the file to be mounted is missing',
    'deep/b/c.yaml': 'upstream: main\nroutes: { GET /c: a:b }\n',
    'deep/b/d.yaml/e.yaml': 'upstream: main\nroutes: { GET /e: a:b }\n',
  })
  symlinkSync('nowhere', folder.file('tables/dangling.yaml'))
  symlinkSync('loop.yaml', folder.file('tables/loop.yaml'))
  symlinkSync('made.yaml', folder.file('tables/linked.yaml'))
  const { config } = await folder.load()
  t.equal(config, null)
  await folder.faultsAt(
    t,
    'tables/dangling.yaml:1:1 tables/linked.yaml:1:1 tables/loop.yaml:1:1 deep/b/d.yaml:1:1',
  )
})

t.test('entries are returned beside other errors, so that the router can add its own', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}drain: x\nroutes: [r.yaml]\n`,
    'r.yaml': 'upstream: main\nroutes:\n  GET /a/{x}: a:b\n  GET /a/{y}: a:*\n  GET a: a:b\n',
  })
  const { config, faults, entries, upstreams } = await folder.load()
  t.equal(config, null)
  t.equal(faults.length, 2)
  t.equal(entries.length, 3)
  t.equal(entries[1]?.requirement, '*', 'an invalid permission becomes the strictest')
  const compiled = compileTable(entries, upstreams, [])
  t.same(
    compiled.faults.map(({ place }) => `${place.line}:${place.column}`),
    ['4:3', '5:3'],
  )
})

t.test(
  'a missing upstream is not reported for every table when the main file could not be read',
  async (t) => {
    const folder = new Folder(t, {
      'gateway.config.yaml': 'routes: [r.yaml]\na: [\n',
      'r.yaml': 'upstream: x\n',
    })
    await folder.faultsAt(t, '2:4')
  },
)

t.test('ten thousand routes in one table', async (t) => {
  const lines = Array.from(
    { length: 10_000 },
    (_, index) => `  GET /v1/things${index}/{id}: things:read${index}\n`,
  )
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [r.yaml]\n`,
    'r.yaml': `upstream: main\nroutes:\n${lines.join('')}`,
  })
  const { config } = await folder.load()
  t.equal(config?.routes.length, 10_000)
  t.match(config?.routes[9_999], { path: '/v1/things9999/{id}', place: { line: 10_002, column: 3 } })
})

t.test('the shipped configuration is valid with only the secret set', async (t) => {
  const file = resolve('gateway.config.yaml')
  const { config, faults } = await loadConfigWithFaults(file, { ACME_TOKEN_SECRET: SECRET })
  t.same(faults, [])
  t.match(config, { listen: [{ host: '0.0.0.0', port: 8080 }], defaultTenant: 'acme' })
  const compiled = compileTable(config?.routes ?? [], config?.upstreams ?? new Map(), [])
  t.same(compiled.faults, [])
  t.ok(compiled.table.match('GET', '/v1/trainings/7'))
  const big = config?.routes.find((entry) => entry.path === '/v1/big')
  t.match(big, {
    method: 'PUT',
    requirement: 'trainings:import',
    responseTimeout: 300_000,
    maxBody: 1024 ** 3,
  })

  const unset = await loadConfigWithFaults(file, {})
  t.equal(unset.faults.length, 1)
  t.match(unset.faults[0]?.message, /ACME_TOKEN_SECRET, which is not set/)
})

t.test('files that change while they are read are read again', async (t) => {
  const filesOf = (drain: number, path: string) => ({
    'gateway.config.yaml': `${BASE}drain: ${drain}s\nroutes: [a.yaml]\n`,
    'a.yaml': `upstream: main\nroutes: { GET ${path}: a:b }\n`,
  })
  const folder = new Folder(t, filesOf(1, '/1'))
  const main = folder.file('gateway.config.yaml')
  /** What is done when the main file was read, and the table was not. */
  const load = async (between: () => unknown) => {
    const display = (path: string) => {
      if (path === main) between()
      return path
    }
    const { config } = await loadConfigWithFaults(main, {}, display)
    return `${config?.drain} ${config?.routes[0]?.path}`
  }
  let times = 0
  t.equal(await load(() => times++ === 0 && folder.write(filesOf(2, '/2'))), '2000 /2', 'of one state')
  times = 0
  t.equal(await load(() => folder.write(filesOf(3, `/3/${times++}`))), `3000 /3/${times - 1}`, 'has an end')
})
