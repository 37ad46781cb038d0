/** Keys of a route table that concern all of its entries: hosts, prefix, space. */

import t, { type Test } from 'tap'
import { formatFault } from '../../src/config/faults.ts'
import { BASE, Folder, faultsAt, tableFaultsAt } from './support.ts'

/** Without upstreams. */
const TENANTS = BASE.slice(0, BASE.indexOf('\n') + 1)
const ROUTES = 'upstream: main\nroutes:\n  GET /o/{org}/a: p:q\n  GET /b: public\n'

async function entriesOf(t: Test, head: string, routes = ROUTES, main = '') {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: [routes.yaml]\n${main}`,
    'routes.yaml': head + routes,
  })
  const { config, faults } = await folder.load()
  if (config === null) throw new Error(faults.map(formatFault).join('\n'))
  return config.routes
}

t.test('a table without these keys has none of them', async (t) => {
  for (const entry of await entriesOf(t, ''))
    for (const key of ['hosts', 'prefix', 'stripPrefix', 'space']) t.notOk(key in entry, key)
})

t.test('hosts: lower case, without the final dot, addresses as RFC 5952 writes them', async (t) => {
  const hosts = async (head: string) => (await entriesOf(t, head))[0]?.hosts
  t.same(await hosts('host: API.Example.com.\n'), ['api.example.com'])
  t.same(await hosts('hosts: [a.example, "*.B.example", "[0:0::1]", 127.0.0.1, my_box]\n'), [
    'a.example',
    '*.b.example',
    '[::1]',
    '127.0.0.1',
    'my_box',
  ])
})

t.test('hosts: what no request can name is a fault', async (t) => {
  const refused = [
    'a.example:8080',
    '"[::1]:80"',
    'http://a.example',
    '"*"',
    'a.*.example',
    '"*a.example"',
    '"*.*.example"',
    '"*.127.0.0.1"',
    '"*.0.0.1"',
    '"127.1"',
    '0x7f.0.0.1',
    'u@a.example',
    'a..example',
    '"%61.example"',
    'münchen.example',
    '""',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(127)}aa`,
  ]
  for (const host of refused) await tableFaultsAt(t, `host: ${host}\n${ROUTES}`, '1:7')
  await tableFaultsAt(t, `hosts: [a.example, A.example.]\n${ROUTES}`, '1:20')
  await tableFaultsAt(t, `host: a.example\nhosts: [b.example]\n${ROUTES}`, '2:1')
  await tableFaultsAt(t, `hosts: []\n${ROUTES}`, '1:8')
})

t.test('prefix: static segments, normalised', async (t) => {
  const [first] = await entriesOf(t, 'prefix: /code/caf%C3%A9\nstrip_prefix: true\n')
  t.match(first, { prefix: '/code/caf%C3%A9', stripPrefix: true, path: '/o/{org}/a' })
  const refused = [
    'code',
    '/code/',
    '/',
    '/{x}',
    '/*',
    '/a/../b',
    '/a/.',
    '//a',
    '/a%2fb',
    '/a%2Fb',
    '/%61',
    '/a%5Cb',
    '/a;b',
    '/a%3Bb',
    '/%C3',
    '/a?b',
    '"/a#b"',
    '/é',
    '/a%00',
  ]
  for (const prefix of refused) {
    await tableFaultsAt(t, `prefix: ${prefix}\n${ROUTES}`, '1:9')
    const upstream = `main:\n    targets: ['http://127.0.0.1:9001']\n    base_path: ${prefix}\n`
    await faultsAt(t, `${TENANTS}upstreams:\n  ${upstream}routes: []\n`, '5:16')
  }
  await tableFaultsAt(t, `strip_prefix: true\n${ROUTES}`, '1:15')
})

t.test('space: of the table, and of a route in its place', async (t) => {
  const spaces = async (space: string, routes?: string) =>
    (await entriesOf(t, `space: ${space}\n`, routes)).map((entry) => entry.space)
  t.same(await spaces('{ param: org }'), [{ kind: 'param', name: 'org' }, undefined], 'public needs none')
  t.same((await spaces('{ fixed: main }'))[0], { kind: 'fixed', space: 'main' })
  t.same((await spaces('{ query: space }'))[0], { kind: 'query', name: 'space' })
  t.same((await spaces('{ host_label: 2 }'))[0], { kind: 'host_label', label: 2 })
  t.same((await spaces('{ header: SPACE }'))[0], { kind: 'header', name: 'space' })
  t.same((await spaces('{ header: X-Org }'))[0], { kind: 'header', name: 'x-org' })
  const routes = `upstream: main\nroutes:\n  GET /a: { permission: p:q, space: { fixed: b } }\n  GET /me: authenticated\n`
  t.same(await spaces('{ param: org }', routes), [{ kind: 'fixed', space: 'b' }, undefined])
})

t.test('space: faults', async (t) => {
  const refused = [
    ['{}', '1:8'],
    ['{ param: org, fixed: a }', '1:8'],
    ['{ cookie: a }', '1:10'],
    ['{ fixed: "a:b" }', '1:17'],
    ['{ query: "a b" }', '1:17'],
    ['{ query: "sp%61ce" }', '1:17'],
    ['{ host_label: 0 }', '1:22'],
    ['{ host_label: "1" }', '1:22'],
    ['{ param: "{org}" }', '1:17'],
    ['{ param: other }', '4:3'],
    ['{ header: "X Org" }', '1:18'],
    ['{ header: X_Org }', '1:18'],
    ['main', '1:8'],
  ] as const
  for (const [space, place] of refused) await tableFaultsAt(t, `space: ${space}\n${ROUTES}`, place)
  const route = (place: string, space: string, permission = 'p:q') => {
    const text = `upstream: main\nroutes:\n  GET /{a}: { permission: ${permission}, space: ${space} }\n`
    return tableFaultsAt(t, text, place)
  }
  await route('3:48', '{ param: b }')
  await route('', '{ param: a }')
  await route('3:35', '{ fixed: a }', 'public')
})

t.test('space: a label that hosts of the table do not have', async (t) => {
  const head = (hosts: string, label: number) => `hosts: [${hosts}]\nspace: { host_label: ${label} }\n`
  for (const [hosts, label] of [
    ['a.example', 3],
    ['"*.example"', 3],
    ['127.0.0.1, "[::1]"', 1],
  ] as const)
    await tableFaultsAt(t, head(hosts, label) + ROUTES, '2:22')
  const own = 'upstream: main\nroutes:\n  GET /a: { permission: p:q, space: { host_label: 4 } }\n'
  await tableFaultsAt(t, `host: a.b.example\n${own}`, '4:51')
  await tableFaultsAt(t, own, '')
  const warnings = (hosts: string, label: number) => {
    const folder = new Folder(t, {
      'gateway.config.yaml': `${BASE}routes: [routes.yaml]\n`,
      'routes.yaml': head(hosts, label) + ROUTES,
    })
    return (places: readonly string[]) => folder.warningsAt(t, places)
  }
  await warnings('a.example, "*.a.example"', 3)(['space_unreachable routes.yaml:2:22'])
  await warnings('a.example, "*.a.example"', 2)([])
  await warnings('a.example, 127.0.0.1', 1)(['space_unreachable routes.yaml:2:22'])
})

t.test('space: no credential, and no header with another meaning, names one', async (t) => {
  const names = ['Authorization', 'X-API-Key', 'Cookie', 'Host', 'X-Seatgate-Space', 'X-Forwarded-Host']
  for (const name of [...names, 'Connection', 'Content-Type', 'Origin', 'X-Request-Id', 'Sec-Fetch-Site'])
    await tableFaultsAt(t, `space: { header: ${name} }\n${ROUTES}`, '1:18')
})

t.test('api_hosts', async (t) => {
  const main = (hosts: string) => `${BASE}routes: []\napi_hosts: ${hosts}\n`
  const folder = new Folder(t, { 'gateway.config.yaml': main('[GW.example, "*.gw.example"]') })
  t.same((await folder.load()).config?.api.hosts, ['gw.example', '*.gw.example'])
  await faultsAt(t, main('["gw.example:8080"]'), '4:13')
  await faultsAt(t, main('[]'), '4:12')
})

t.test('a sign-in that returns to a host without built-in endpoints is a warning', async (t) => {
  const redirect = async (hosts: string, places: readonly string[]) => {
    const uri = 'https://gw.example:8443/auth/oidc/callback'
    const text = `tenants:
  acme:
    token: { secrets: ['\${S}'] }
    oidc: { issuer: 'https://idp.example', client_id: a, redirect_uri: '${uri}', client_auth: none }
routes: []
${hosts}`
    const folder = new Folder(t, { 'gateway.config.yaml': text })
    await folder.warningsAt(t, places, { S: 's'.repeat(32) })
  }
  await redirect('api_hosts: [a.example]', ['redirect_elsewhere 4:72'])
  for (const hosts of ['', 'api_hosts: [gw.example]', 'api_hosts: ["*.example"]']) await redirect(hosts, [])
})

t.test('a host that a wildcard of another table matches is a warning', async (t) => {
  const shadowed = (a: string, b: string, places: readonly string[]) => {
    const tables = { 'routes/a.yaml': a, 'routes/b.yaml': b }
    const folder = new Folder(t, { 'gateway.config.yaml': `${BASE}routes: [routes/*.yaml]\n`, ...tables })
    return folder.warningsAt(t, places)
  }
  const table = (hosts: string) => `hosts: ${hosts}\nupstream: main\nroutes: { GET /a: public }\n`
  await shadowed(table('["*.example"]'), table('[a.example]'), ['shadowed_wildcard routes/b.yaml:1:8'])
  const fine = [
    [table('["*.example", a.example]'), table('[a.example]')],
    [table('["*.example"]'), table('[a.b.example]')],
    [table('["*.example"]'), table('[example]')],
    [table('["*.example"]'), '# seatgate: accept shadowed_wildcard\n' + table('[a.example]')],
  ]
  for (const [a = '', b = ''] of fine) await shadowed(a, b, [])
})
