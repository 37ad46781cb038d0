/** Errors of single settings in the main file: structure, tenants, upstreams, store. */

import { availableParallelism } from 'node:os'
import t from 'tap'
import { BASE, configOf, faultsOf, SECRET } from './support.ts'

const one = async (t: Parameters<typeof faultsOf>[0], text: string, expected: RegExp) => {
  const faults = await faultsOf(t, text)
  t.equal(faults.length, 1, faults.join('\n'))
  t.match(faults[0], expected, text)
}

t.test('wrong types', async (t) => {
  const cases: [string, RegExp][] = [
    ['listen: 8080', /^3:9: listen must be a string or a list such as "\[::\]:8080", not a number$/],
    ['ops: [a]', /^3:6: ops must be a string .* not a list$/],
    ['listen:', /^3:8: listen must be a string .* not empty$/],
    ['store: true', /^3:8: store must be a string .* not true or false$/],
    ['default_tenant: 7', /^3:17: default_tenant must be a string such as "acme", not a number$/],
    ['routes: routes/*.yaml', /^3:9: routes must be a list, not a string$/],
    ['routes: [1]', /^3:10: routes\[0\] must be a string such as "routes\/\*\.yaml", not a number$/],
    ['trusted_proxies: 10.0.0.0/8', /^3:18: trusted_proxies must be a list, not a string$/],
    ['drain: 30', /^3:8: drain must be a string such as "30s", not a number$/],
    ['drain: {}', /^3:8: drain must be a string such as "30s", not a map$/],
    ['workers: 1.5', /^3:10: workers must be a whole number or a string/],
    ['redis: {}', /^3:8: redis must be a string such as/],
  ]
  for (const [line, expected] of cases) await one(t, `${BASE}${line}\n`, expected)
  await one(t, 'tenants: []\n', /^1:10: tenants must be a map, not a list$/)
  await one(t, 'tenants: {}\n', /^1:10: tenants must have at least one entry$/)
  await one(t, 'tenants:\n  a:\n', /^2:5: a must be a map, not empty$/)
  await one(t, 'a: 1\n'.replace('a: 1', '{}'), /^1:1: the file must have the key "tenants"$/)
})

t.test('unknown keys', async (t) => {
  await one(t, `${BASE}listn: a:1\n`, /^3:1: "listn" is not a known key \(did you mean "listen"\?\)$/)
  await one(t, `${BASE}Listen: a:1\n`, /^3:1: "Listen" is not a known key \(did you mean "listen"\?\)$/)
  await one(t, `${BASE}zzzzzz: 1\n`, /^3:1: "zzzzzz" is not a known key \(known keys: listen, ops, /)
  await one(t, `${BASE}'': 1\n`, /^3:1: "" is not a known key/)
  await one(
    t,
    `${BASE}'a\\nb': 1\n`.replaceAll("'", '"').replace(/^.*\n.*\n/, BASE),
    /^3:1: "a\\nb" is not a known key/,
  )
  await one(t, `${BASE}${'x'.repeat(1000)}: 1\n`, /^3:1: "x{59}…" is not a known key/)
})

t.test('tenants', async (t) => {
  const token = `token: { secrets: ['${SECRET}'] }`
  for (const id of ['Acme', '-a', 'a_b', 'a.b', 'é', 'a'.repeat(64), "' a'", "''"])
    await one(
      t,
      `tenants: { ${id}: { ${token} } }\n`,
      /^1:12: tenant ".*": an id must be 1 to 63 lower-case letters/,
    )
  for (const id of ['a', '0', 'a-', 'a'.repeat(63)])
    t.ok(await configOf(t, `tenants: { '${id}': { ${token} } }\n`), id)
  await one(t, 'tenants: { a: {} }\n', /^1:12: a must have the key "token"$/)
  await one(t, 'tenants: { a: { token: {} } }\n', /^1:17: token must have the key "secrets"$/)
  await one(t, 'tenants: { a: { token: { secrets: [] } } }\n', /^1:35: secrets must have at least one entry/)
  for (const space of ['a:b', "''", '.a', 'a b', 'é', 'a'.repeat(129)])
    await one(
      t,
      `tenants: { a: { admin_space: ${space}, ${token} } }\n`,
      /^1:30: admin_space: ".*" is not a space/,
    )
  const algorithm = (name: string) =>
    `tenants: { a: { token: { secrets: ['${SECRET}'], algorithm: ${name} } } }\n`
  for (const name of ['RS256', 'none', 'hs256', "''"])
    await one(t, algorithm(name), /: algorithm must be one of HS256, HS384, HS512$/)
  await one(t, algorithm('HS256, lifetime: 0s'), /lifetime: "0s" is too short: the minimum is 1s$/)
  await one(t, algorithm('HS256, leeway: 61m'), /leeway: "61m" is too long: the maximum is 1h$/)
})

t.test('a secret belongs to one tenant', async (t) => {
  const bytes = `base64url:${Buffer.from(SECRET).toString('base64url')}`
  await one(
    t,
    `tenants:\n  a: { token: { secrets: ['${SECRET}'] } }\n  b: { token: { secrets: ['${bytes}'] } }\n`,
    /^3:27: secrets\[0\]: the value is also a secret of tenant a: tenants must not share a secret$/,
  )
  await one(
    t,
    `tenants:\n  a: { token: { secrets: ['${SECRET}', '${SECRET}'] } }\n`,
    /^2:67: secrets\[1\]: the value is listed twice$/,
  )
})

t.test('the default tenant', async (t) => {
  const two = `tenants: { a: { token: { secrets: ['${SECRET}'] } }, b: { token: { secrets: ['${SECRET}2'] } } }\n`
  t.equal((await configOf(t, BASE)).defaultTenant, 'acme', 'the only tenant')
  t.equal((await configOf(t, two)).defaultTenant, null, 'none of several')
  t.equal((await configOf(t, `${two}default_tenant: b\n`)).defaultTenant, 'b')
  await one(t, `${BASE}default_tenant: acmee\n`, /is not a tenant \(did you mean "acme"\?\)$/)
  await one(t, `${BASE}default_tenant: ACME\n`, /is not a tenant/)
})

t.test('upstreams', async (t) => {
  const base = BASE.replace(/upstreams.*\n/, '')
  const upstream = (text: string, name = 'u') => `${base}upstreams: { ${name}: { ${text} } }\n`
  await one(t, upstream(''), /^2:14: u must have the key "targets"$/)
  await one(t, upstream('targets: []'), /^2:28: targets must have at least one entry/)
  await one(
    t,
    upstream("targets: ['http://a/b']"),
    /^2:29: targets\[0\]: the value must be scheme, host and port only/,
  )
  await one(
    t,
    upstream("targets: ['http://a']", "'a b'"),
    /^2:14: upstream "a b": a name must be 1 to 63 letters/,
  )
  for (const flag of [
    'pass_host',
    'pass_authorization',
    'pass_overrides',
    'allow_semicolons',
    'allow_encoded_slashes',
  ]) {
    await one(
      t,
      upstream(`targets: ['http://a'], ${flag}: yes`),
      new RegExp(`${flag} must be true or false, not a string$`),
    )
    await one(
      t,
      upstream(`targets: ['http://a'], ${flag}: 1`),
      new RegExp(`${flag} must be true or false, not a number$`),
    )
    await one(
      t,
      upstream(`targets: ['http://a'], ${flag}:`),
      new RegExp(`${flag} must be true or false, not empty$`),
    )
  }
  await one(t, upstream("targets: ['http://a'], connect_timeout: 0s"), /connect_timeout: "0s" is too short/)
  await one(
    t,
    upstream("targets: ['http://a'], response_timeout: 25d"),
    /response_timeout: "25d" is too long/,
  )
})

t.test('the store', async (t) => {
  const cases: [string, RegExp][] = [
    ['x.db', /is not sqlite:PATH or postgres:/],
    ['SQLITE:x.db', /is not sqlite:PATH or postgres:/],
    ['mysql://h/d', /is not sqlite:PATH or postgres:/],
    ["'sqlite:'", /names no file/],
    ['sqlite:data/', /names no file/],
    ["'sqlite::memory:'", /a store in memory would lose/],
    ['sqlite://data/x.db', /begins with two slashes/],
    ["'sqlite:x.db?mode=memory'", /has a control character, \? or #/],
    ['"sqlite:x\\0.db"', /has a control character, \? or #/],
  ]
  for (const [text, expected] of cases) await one(t, `${BASE}store: ${text}\n`, expected)
  t.same((await configOf(t, `${BASE}store: sqlite:///var/x.db\n`)).store, {
    kind: 'sqlite',
    path: '/var/x.db',
  })
})

t.test('workers: a number, or one for each core', async (t) => {
  t.equal((await configOf(t, BASE)).workers, 1)
  t.equal((await configOf(t, `${BASE}workers: 3\n`)).workers, 3)
  t.equal((await configOf(t, `${BASE}workers: auto\n`)).workers, availableParallelism())
  await one(t, `${BASE}workers: 0\n`, /^3:10: workers must be at least 1$/)
  await one(t, `${BASE}workers: 129\n`, /^3:10: workers: is not auto or a number from 1 to 128$/)
  await one(t, `${BASE}workers: x\n`, /^3:10: workers/)
})

t.test('a PostgreSQL store needs a complete URL, which no message shows', async (t) => {
  for (const url of ['postgres://u:secret@h:5432/d?sslmode=require', 'postgresql://u@h/d'])
    t.same((await configOf(t, `${BASE}store: '${url}'\n`)).store, { kind: 'postgres', url })
  for (const url of ['postgres://u:secret@h', 'postgres:///d', 'postgres:d', 'postgres://u:secret@h:x/d'])
    await one(t, `${BASE}store: '${url}'\n`, /^3:8: store: the value is not postgres:\/\/user:password@host/)
})

t.test('PostgreSQL URLs with unsupported or missing parts', async (t) => {
  for (const [url, fault] of [
    ['postgres://db/seatgate', /the URL has no user name/],
    ['postgres://anna:hush@db/x?sslmode=prefer', /sslmode must be one of/],
    ['postgres://anna:hush@db/x?foo=1', /unknown parameter/],
    [
      'postgres://anna:hush@db/x?sslmode=verify-full&sslrootcert=missing.pem',
      /sslrootcert cannot be read: ENOENT/,
    ],
    ['postgres://anna:hu#sh@db/x', /percent-encoded|is not postgres/],
  ] as const) {
    const faults = await faultsOf(t, `${BASE}store: "${url}"\n`)
    t.match(faults, [fault], url)
    t.notMatch(faults.join(), 'hush', 'no password is shown')
  }
})
