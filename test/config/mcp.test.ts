/** `mcp` of a route table: the entries that it becomes, and each fault with its place. */

import t, { type Test } from 'tap'
import { BASE, Folder, tableFaultsAt } from './support.ts'

const SERVER = `mcp:
  path: /mcp
  resource: https://gw.example/mcp
`

async function configOf(t: Test, table: string, main = '') {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [r.yaml]\n${main}`,
    'r.yaml': `upstream: main\n${table}`,
  })
  const { config, faults } = await folder.load()
  if (config === null) throw new Error(faults.map((each) => each.message).join('\n'))
  return config
}

const hashOf = async (t: Test, table: string) => (await configOf(t, table)).hash

t.test('a server is its path, its lines and its metadata', async (t) => {
  const { routes } = await configOf(
    t,
    `prefix: /agents
rate_limit: [slow]
${SERVER}  authorization_servers: [https://login.acme.example]
  tools:
    get_weather: weather:read
    delete_user: { permission: users:delete, rate_limit: [], response_timeout: 5m, tenant: acme }
  prompts: { "über prüfen": prompts:use }
  resources: { "docs://handbook/*": docs:read }
`,
    'rate_limits: { slow: { limit: 1/s, per: caller } }\n',
  )
  t.same(
    routes.map(({ method, prefix, path, requirement, rateLimits }) =>
      [method, `${prefix}${path}`, requirement, rateLimits?.map(({ name }) => name).join() ?? ''].join(' '),
    ),
    [
      'POST /agents/mcp * slow',
      'tool /agents/mcp#get_weather weather:read slow',
      'tool /agents/mcp#delete_user users:delete ',
      'prompt /agents/mcp#%C3%BCber%20pr%C3%BCfen prompts:use slow',
      'resource /agents/mcp#docs://handbook/* docs:read slow',
      'method /agents/mcp#server/discover authenticated slow',
      'method /agents/mcp#tools/list authenticated slow',
      'method /agents/mcp#prompts/list authenticated slow',
      'method /agents/mcp#resources/list authenticated slow',
      'method /agents/mcp#subscriptions/listen authenticated slow',
      'GET /.well-known/oauth-protected-resource/mcp public slow',
    ],
  )
  const [server, weather, removal] = routes
  t.same(server?.mcp, {
    part: 'server',
    resource: 'https://gw.example/mcp',
    filtersLists: true,
    bodyTimeout: null,
  })
  t.equal(server?.maxBody, 1024 ** 2)
  t.match(weather, { maxBody: 1024 ** 2, place: { line: 9, column: 5 } })
  t.match(removal, { responseTimeout: 300_000, tenant: 'acme' })
  const metadata = routes.at(-1)?.mcp
  t.same(metadata?.part === 'metadata' && JSON.parse(metadata.document), {
    resource: 'https://gw.example/mcp',
    authorization_servers: ['https://login.acme.example'],
    scopes_supported: ['docs:read', 'prompts:use', 'users:delete', 'weather:read'],
    bearer_methods_supported: ['header'],
  })
})

t.test('the content hash covers every setting', async (t) => {
  const hashes = await Promise.all(
    [
      SERVER,
      `${SERVER}  tools: { a: p:q }\n`,
      `${SERVER}  tools: { a: p:r }\n`,
      `${SERVER}  tools: { b: p:q }\n`,
      `${SERVER}  prompts: { a: p:q }\n`,
      `${SERVER}  resources: { "docs://{a}/": p:q }\n`,
      `${SERVER}  resources: { "docs://{b}/": p:q }\n`,
      `${SERVER}  list: whole\n`,
      `${SERVER}  max_body: 2MiB\n`,
      `${SERVER}  body_timeout: 5s\n`,
      `${SERVER}  authorization_servers: [https://login.acme.example]\n`,
      SERVER.replace('path: /mcp', 'path: /other'),
      SERVER.replace('https://gw.example/mcp', 'https://gw.example/other'),
    ].map((table) => hashOf(t, table)),
  )
  t.equal(new Set(hashes).size, hashes.length)
  t.equal(
    await hashOf(t, `${SERVER}  tools: { a: p:q, b: p:q }\n`),
    await hashOf(t, `${SERVER}  tools: { b: p:q, a: p:q }\n`),
  )
})

t.test('faults', async (t) => {
  await tableFaultsAt(
    t,
    `upstream: main\nmcp: { path: mcp/, resource: 'http://gw.example/mcp' }\n`,
    '2:14 2:30',
  )
  await tableFaultsAt(t, `upstream: main\nmcp: {}\n`, '2:1 2:1')
  await tableFaultsAt(
    t,
    `upstream: main
${SERVER}  tools:
    "get_*": weather:read
    "": weather:read
    "a\\nb": weather:read
    ok: weather
    long: { permission: weather:read, max_body: 1KiB }
  resources:
    "docs://hand*": docs:read
    "docs://*/x": docs:read
    "docs://a/../b": docs:read
    "docs://a/%2E%2e/*": docs:read
  list: all
  max_body: 1B
`,
    '6:5 7:5 8:5 9:9 10:39 12:5 13:5 14:5 15:5 16:9 17:13',
  )
  await tableFaultsAt(t, `upstream: main\n${SERVER}space: { param: org }\n`, '2:1')
})

t.test('a table needs routes or a server', async (t) => {
  await tableFaultsAt(t, `upstream: main\nprefix: /a\n`, '1:1')
})

t.test('the upstream of a server gets no token of a caller', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE.replace("9001'] }", "9001'], pass_authorization: true }")}routes: [r.yaml]\n`,
    'r.yaml': `upstream: main\n${SERVER}`,
  })
  await folder.faultsAt(t, 'r.yaml:1:11')
})
