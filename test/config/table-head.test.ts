/** Keys of a route table that concern all of its entries: hosts, prefix, space. */

import t, { type Test } from 'tap'
import { formatFault } from '../../src/config/faults.ts'
import { BASE, Folder, faultsOf, tableFaults } from './support.ts'

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
    ['a.example:8080', 'has a port'],
    ['"[::1]:80"', 'has a port'],
    ['http://a.example', 'has a port'],
    ['"*"', 'has a * that is not its whole first label'],
    ['a.*.example', 'has a * that is not its whole first label'],
    ['"*a.example"', 'has a * that is not its whole first label'],
    ['"*.*.example"', 'has a * that is not its whole first label'],
    ['"*.127.0.0.1"', 'matches no host: an address has no labels'],
    ['"*.0.0.1"', 'is not the name of a host, or an address'],
    ['"127.1"', 'is not the name of a host, or an address'],
    ['0x7f.0.0.1', 'is not the name of a host, or an address'],
    ['u@a.example', 'is not the name of a host, or an address'],
    ['a..example', 'is not the name of a host, or an address'],
    ['"%61.example"', 'is not the name of a host, or an address'],
    ['münchen.example', 'write it as "xn--mnchen-3ya.example"'],
    ['""', 'is not the name of a host, or an address'],
    [`${'a'.repeat(64)}.example`, 'is not the name of a host, or an address'],
    [`${'a.'.repeat(127)}aa`, 'is not the name of a host, or an address'],
  ] as const
  for (const [host, message] of refused)
    t.match(await tableFaults(t, `host: ${host}\n${ROUTES}`), [new RegExp(escaped(message))], host)
  t.match(await tableFaults(t, `hosts: [a.example, A.example.]\n${ROUTES}`), [/1:20: .*is listed twice/])
  t.match(await tableFaults(t, `host: a.example\nhosts: [b.example]\n${ROUTES}`), [/exclude each other/])
  t.match(await tableFaults(t, `hosts: []\n${ROUTES}`), [/hosts must have at least one entry/])
})

t.test('prefix: static segments, normalised', async (t) => {
  const [first] = await entriesOf(t, 'prefix: /code/caf%C3%A9\nstrip_prefix: true\n')
  t.match(first, { prefix: '/code/caf%C3%A9', stripPrefix: true, path: '/o/{org}/a' })
  const refused = [
    ['code', 'does not begin with a slash'],
    ['/code/', 'ends with a slash'],
    ['/', 'ends with a slash'],
    ['/{x}', 'only fixed segments'],
    ['/*', 'only fixed segments'],
    ['/a/../b', 'dot segment'],
    ['/a/.', 'dot segment'],
    ['//a', 'not a normalised path'],
    ['/a%2fb', 'not a normalised path'],
    ['/a%2Fb', 'not a normalised path'],
    ['/%61', 'not a normalised path'],
    ['/a%5Cb', 'not a normalised path'],
    ['/a;b', 'not a normalised path'],
    ['/a%3Bb', 'not a normalised path'],
    ['/%C3', 'not a normalised path'],
    ['/a?b', 'not a normalised path'],
    ['"/a#b"', 'not a normalised path'],
    ['/é', 'not a normalised path'],
    ['/a%00', 'not a normalised path'],
  ] as const
  for (const [prefix, message] of refused) {
    t.match(await tableFaults(t, `prefix: ${prefix}\n${ROUTES}`), [new RegExp(message)], prefix)
    const upstream = `main:\n    targets: ['http://127.0.0.1:9001']\n    base_path: ${prefix}\n`
    const main = `${TENANTS}upstreams:\n  ${upstream}routes: []\n`
    t.match(await faultsOf(t, main), [new RegExp(message)], `base_path ${prefix}`)
  }
  t.match(await tableFaults(t, `strip_prefix: true\n${ROUTES}`), [/strip_prefix: needs a prefix/])
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
    ['{}', 'must have exactly one of'],
    ['{ param: org, fixed: a }', 'must have exactly one of'],
    ['{ cookie: a }', 'is not a known key'],
    ['{ fixed: "a:b" }', 'is not a space id'],
    ['{ query: "a b" }', 'is not the name of a query parameter'],
    ['{ query: "sp%61ce" }', 'is not the name of a query parameter'],
    ['{ host_label: 0 }', 'must be at least 1'],
    ['{ host_label: "1" }', 'must be a whole number'],
    ['{ param: "{org}" }', 'is not the name of a parameter'],
    ['{ param: other }', 'has no parameter {other}'],
    ['{ header: "X Org" }', 'is not the name of a header'],
    ['{ header: X_Org }', 'is not the name of a header'],
    ['main', 'space must be a map'],
  ] as const
  for (const [space, message] of refused)
    t.match(await tableFaults(t, `space: ${space}\n${ROUTES}`), [new RegExp(escaped(message))], space)
  const route = (space: string, permission = 'p:q') =>
    tableFaults(t, `upstream: main\nroutes:\n  GET /{a}: { permission: ${permission}, space: ${space} }\n`)
  t.match(await route('{ param: b }'), [/param: "b" is not a parameter of the pattern/])
  t.same(await route('{ param: a }'), [])
  t.match(await route('{ fixed: a }', 'public'), [/not allowed on a public route/])
})

t.test('space: no credential, and no header with another meaning, names one', async (t) => {
  const names = ['Authorization', 'X-API-Key', 'Cookie', 'Host', 'X-Seatgate-Space', 'X-Forwarded-Host']
  for (const name of [...names, 'Connection', 'Content-Type', 'Origin', 'X-Request-Id', 'Sec-Fetch-Site'])
    t.match(
      await tableFaults(t, `space: { header: ${name} }\n${ROUTES}`),
      [/has another meaning, or that the gateway does not forward/],
      name,
    )
})

t.test('api_hosts', async (t) => {
  const main = (hosts: string) => `${BASE}routes: []\napi_hosts: ${hosts}\n`
  const folder = new Folder(t, { 'gateway.config.yaml': main('[GW.example, "*.gw.example"]') })
  t.same((await folder.load()).config?.apiHosts, ['gw.example', '*.gw.example'])
  t.match(await faultsOf(t, main('["gw.example:8080"]')), [/api_hosts\[0\]: .* has a port/])
  t.match(await faultsOf(t, main('[]')), [/api_hosts must have at least one entry/])
})

t.test('a sign-in that returns to a host without built-in endpoints is a warning', async (t) => {
  const warningsOf = async (hosts: string) => {
    const redirect = 'https://gw.example:8443/auth/oidc/callback'
    const text = `tenants:
  acme:
    token: { secrets: ['\${S}'] }
    oidc: { issuer: 'https://idp.example', client_id: a, redirect_uri: '${redirect}', client_auth: none }
routes: []
${hosts}`
    const { config, warnings } = await new Folder(t, { 'gateway.config.yaml': text }).load({
      S: 's'.repeat(32),
    })
    t.ok(config)
    return warnings.map(({ code, place, message }) => `${code} ${place.line}: ${message}`)
  }
  t.match(await warningsOf('api_hosts: [a.example]'), [
    /^redirect_elsewhere 4: redirect_uri: gw\.example is not among api_hosts/,
  ])
  for (const hosts of ['', 'api_hosts: [gw.example]', 'api_hosts: ["*.example"]'])
    t.same(await warningsOf(hosts), [], hosts)
})

t.test('a host that a wildcard of another table matches is a warning', async (t) => {
  const warningsOf = async (tables: Readonly<Record<string, string>>) => {
    const { warnings } = await new Folder(t, {
      'gateway.config.yaml': `${BASE}routes: [routes/*.yaml]\n`,
      ...tables,
    }).load()
    return warnings
      .filter(({ code }) => code !== 'secret_literal')
      .map(({ code, place, message }) => `${code} ${place.line}: ${message}`)
  }
  const table = (hosts: string) => `hosts: ${hosts}\nupstream: main\nroutes: { GET /a: public }\n`
  const found = await warningsOf({
    'routes/a.yaml': table('["*.example"]'),
    'routes/b.yaml': table('[a.example]'),
  })
  t.match(found, [/^shadowed_wildcard 1: a\.example matches \*\.example of .*a\.yaml:1 too/])
  t.equal(found.length, 1)
  const fine = [
    [table('["*.example", a.example]'), table('[a.example]')],
    [table('["*.example"]'), table('[a.b.example]')],
    [table('["*.example"]'), table('[example]')],
    [table('["*.example"]'), '# seatgate: accept shadowed_wildcard\n' + table('[a.example]')],
  ]
  for (const [a = '', b = ''] of fine)
    t.same(await warningsOf({ 'routes/a.yaml': a, 'routes/b.yaml': b }), [], b)
})

function escaped(text: string): string {
  return text.replace(/[*{}[\].]/g, '\\$&')
}
