/** Errors of single settings in the main file: structure, tenants, upstreams, store. */

import { availableParallelism } from 'node:os'
import t from 'tap'
import { BASE, configOf, faultsAt, SECRET } from './support.ts'

t.test('wrong types', async (t) => {
  const cases: [string, string][] = [
    ['listen: 8080', '3:9'],
    ['ops: [a]', '3:6'],
    ['listen:', '3:8'],
    ['store: true', '3:8'],
    ['default_tenant: 7', '3:17'],
    ['routes: routes/*.yaml', '3:9'],
    ['routes: [1]', '3:10'],
    ['trusted_proxies: 10.0.0.0/8', '3:18'],
    ['drain: 30', '3:8'],
    ['drain: {}', '3:8'],
    ['workers: 1.5', '3:10'],
    ['redis: {}', '3:8'],
  ]
  for (const [line, expected] of cases) await faultsAt(t, `${BASE}${line}\n`, expected)
  await faultsAt(t, 'tenants: []\n', '1:10')
  await faultsAt(t, 'tenants: {}\n', '1:10')
  await faultsAt(t, 'tenants:\n  a:\n', '2:5')
  await faultsAt(t, '{}\n', '1:1')
})

t.test('unknown keys', async (t) => {
  await faultsAt(t, `${BASE}listn: a:1\n`, '3:1')
  await faultsAt(t, `${BASE}Listen: a:1\n`, '3:1')
  await faultsAt(t, `${BASE}zzzzzz: 1\n`, '3:1')
  await faultsAt(t, `${BASE}'': 1\n`, '3:1')
  await faultsAt(t, `${BASE}"a\\nb": 1\n`, '3:1')
  await faultsAt(t, `${BASE}${'x'.repeat(1000)}: 1\n`, '3:1')
})

t.test('tenants', async (t) => {
  const token = `token: { secrets: ['${SECRET}'] }`
  for (const id of ['Acme', '-a', 'a_b', 'a.b', 'é', 'a'.repeat(64), "' a'", "''"])
    await faultsAt(t, `tenants: { ${id}: { ${token} } }\n`, '1:12')
  for (const id of ['a', '0', 'a-', 'a'.repeat(63)])
    t.ok(await configOf(t, `tenants: { '${id}': { ${token} } }\n`), id)
  await faultsAt(t, 'tenants: { a: {} }\n', '1:12')
  await faultsAt(t, 'tenants: { a: { token: {} } }\n', '1:17')
  await faultsAt(t, 'tenants: { a: { token: { secrets: [] } } }\n', '1:35')
  for (const space of ['a:b', "''", '.a', 'a b', 'é', 'a'.repeat(129)])
    await faultsAt(t, `tenants: { a: { admin_space: ${space}, ${token} } }\n`, '1:30')
  const algorithm = (name: string) =>
    `tenants: { a: { token: { secrets: ['${SECRET}'], algorithm: ${name} } } }\n`
  for (const name of ['RS256', 'none', 'hs256', "''"]) await faultsAt(t, algorithm(name), '1:88')
  await faultsAt(t, algorithm('HS256, lifetime: 0s'), '1:105')
  await faultsAt(t, algorithm('HS256, leeway: 61m'), '1:103')
})

t.test('a secret belongs to one tenant', async (t) => {
  const bytes = `base64url:${Buffer.from(SECRET).toString('base64url')}`
  await faultsAt(
    t,
    `tenants:\n  a: { token: { secrets: ['${SECRET}'] } }\n  b: { token: { secrets: ['${bytes}'] } }\n`,
    '3:27',
  )
  await faultsAt(t, `tenants:\n  a: { token: { secrets: ['${SECRET}', '${SECRET}'] } }\n`, '2:67')
})

t.test('the default tenant', async (t) => {
  const two = `tenants: { a: { token: { secrets: ['${SECRET}'] } }, b: { token: { secrets: ['${SECRET}2'] } } }\n`
  t.equal((await configOf(t, BASE)).defaultTenant, 'acme', 'the only tenant')
  t.equal((await configOf(t, two)).defaultTenant, null, 'none of several')
  t.equal((await configOf(t, `${two}default_tenant: b\n`)).defaultTenant, 'b')
  await faultsAt(t, `${BASE}default_tenant: acmee\n`, '3:17')
  await faultsAt(t, `${BASE}default_tenant: ACME\n`, '3:17')
})

t.test('upstreams', async (t) => {
  const base = BASE.replace(/upstreams.*\n/, '')
  const upstream = (text: string, name = 'u') => `${base}upstreams: { ${name}: { ${text} } }\n`
  await faultsAt(t, upstream(''), '2:14')
  await faultsAt(t, upstream('targets: []'), '2:28')
  await faultsAt(t, upstream("targets: ['http://a/b']"), '2:29')
  await faultsAt(t, upstream("targets: ['http://a']", "'a b'"), '2:14')
  for (const flag of [
    'pass_host',
    'pass_authorization',
    'pass_overrides',
    'allow_semicolons',
    'allow_encoded_slashes',
  ])
    for (const value of ['yes', '1', ''])
      await faultsAt(
        t,
        upstream(`targets: ['http://a'], ${flag}: ${value}`),
        `2:${42 + flag.length + (value === '' ? 3 : 2)}`,
      )
  await faultsAt(t, upstream("targets: ['http://a'], connect_timeout: 0s"), '2:59')
  await faultsAt(t, upstream("targets: ['http://a'], response_timeout: 25d"), '2:60')
})

t.test('the store', async (t) => {
  const cases: [string, string][] = [
    ['x.db', '3:8'],
    ['SQLITE:x.db', '3:8'],
    ['mysql://h/d', '3:8'],
    ["'sqlite:'", '3:8'],
    ['sqlite:data/', '3:8'],
    ["'sqlite::memory:'", '3:8'],
    ['sqlite://data/x.db', '3:8'],
    ["'sqlite:x.db?mode=memory'", '3:8'],
    ['"sqlite:x\\0.db"', '3:8'],
    ['postgres://anna@one:5432,two:5432/x?target_session_attrs=primary', '3:8'],
    ['postgres://anna@one/x?target_session_attrs=standby', '3:8'],
    ['postgres://anna@one/x?sslmode=require&sslrootcert=system', '3:8'],
  ]
  for (const [text, expected] of cases) await faultsAt(t, `${BASE}store: ${text}\n`, expected)
  t.same((await configOf(t, `${BASE}store: sqlite:///var/x.db\n`)).store, {
    kind: 'sqlite',
    path: '/var/x.db',
  })
})

t.test('workers: a number, or one for each core', async (t) => {
  t.equal((await configOf(t, BASE)).workers, 1)
  t.equal((await configOf(t, `${BASE}workers: 3\n`)).workers, 3)
  t.equal((await configOf(t, `${BASE}workers: auto\n`)).workers, availableParallelism())
  await faultsAt(t, `${BASE}workers: 0\n`, '3:10')
  await faultsAt(t, `${BASE}workers: 129\n`, '3:10')
  await faultsAt(t, `${BASE}workers: x\n`, '3:10')
})

t.test('a PostgreSQL store needs a complete URL, which no message shows', async (t) => {
  for (const url of ['postgres://u:secret@h:5432/d?sslmode=require', 'postgresql://u@h/d'])
    t.same((await configOf(t, `${BASE}store: '${url}'\n`)).store, { kind: 'postgres', url })
  for (const url of ['postgres://u:secret@h', 'postgres:///d', 'postgres:d', 'postgres://u:secret@h:x/d'])
    await faultsAt(t, `${BASE}store: '${url}'\n`, '3:8')
})

t.test('PostgreSQL URLs with unsupported or missing parts', async (t) => {
  for (const [url, fault] of [
    ['postgres://db/seatgate', '3:8'],
    ['postgres://anna:hush@db/x?sslmode=prefer', '3:8'],
    ['postgres://anna:hush@db/x?foo=1', '3:8'],
    ['postgres://anna:hush@db/x?sslmode=verify-full&sslrootcert=missing.pem', '3:8'],
    ['postgres://anna:hu#sh@db/x', '3:8'],
  ] as const)
    t.notMatch(await faultsAt(t, `${BASE}store: "${url}"\n`, fault), 'hush', 'no password is shown')
})
