/** A request cannot reach the entries of another host by an unusual spelling of its own. */

import t from 'tap'
import { startWorld, type World } from '../support/world.ts'
import { roundTrip } from '../support/raw-client.ts'

const table = (head: string, route: string) => `${head}\nupstream: main\nroutes:\n  GET ${route}: public\n`

const TABLES = {
  'named.yaml': table('host: api.example.com', '/named'),
  'wildcard.yaml': table('host: "*.example.com"', '/wildcard'),
  'address.yaml': table('hosts: ["[::1]", 127.0.0.1]', '/address'),
}
const OTHERS = ['GET /others: public']
const world = await startWorld(t, { routes: OTHERS, tables: TABLES })
const withoutHosts = await startWorld(t, { routes: OTHERS })

async function statusOf(world: World, head: string): Promise<number> {
  const answer = await roundTrip(world.port, `${head}\r\nConnection: close\r\n\r\n`)
  return Number(answer.slice(9, 12))
}

const to = (host: string, path: string) => `GET ${path} HTTP/1.1\r\nHost: ${host}`

t.test('each spelling of a host has the entries of that host alone', async (t) => {
  const spellings: Readonly<Record<string, readonly string[]>> = {
    '/named': [
      'api.example.com',
      'API.Example.COM',
      'api.example.com.',
      'api.example.com:80',
      'api.example.com.:65535',
    ],
    '/wildcard': ['x.example.com', 'API2.example.com', 'a_b.example.com', 'xn--mnchen-3ya.example.com.'],
    '/address': ['[::1]', '[0:0:0:0:0:0:0:1]', '[0::1]:8080', '[::0.0.0.1]', '127.0.0.1', '127.0.0.1:8080'],
    '/others': ['example.com', 'a.api.example.com', 'api.example.org', 'api', '[::2]', '127.0.0.2', 'other'],
  }
  for (const [own, hosts] of Object.entries(spellings))
    for (const host of hosts)
      for (const path of Object.keys(spellings))
        t.equal(await statusOf(world, to(host, path)), path === own ? 200 : 404, `${host} ${path}`)
})

t.test('a host that readers may take for another one is refused', async (t) => {
  const before = world.upstream.seen.length
  const hosts = [
    '%61pi.example.com',
    'api%2eexample.com',
    'api.example.com%00',
    'api.example.com..',
    'api..example.com',
    '.example.com',
    '.',
    'user@api.example.com',
    'api.example.com@other',
    'api.example.com,other',
    'other,api.example.com',
    "api.example.com;x='y'",
    'api.example.com&',
    '(api.example.com)',
    'api.example.com\\',
    'http://api.example.com',
    'api.example.com/',
    'api.example.com#',
    'api.example.com:',
    'api.example.com:80:80',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '[::1',
    '[::1%25lo]',
    '[::g]',
    `${'a'.repeat(64)}.example.com`,
    `${'a.'.repeat(130)}example.com`,
  ]
  for (const host of hosts)
    for (const path of ['/named', '/others']) t.equal(await statusOf(world, to(host, path)), 400, host + path)
  t.equal(world.upstream.seen.length, before)
})

t.test('Host and an absolute target are one host, or the request is refused', async (t) => {
  const absolute = (target: string, host: string) => `GET http://${target} HTTP/1.1\r\nHost: ${host}`
  const same = [
    ['api.example.com/named', 'api.example.com'],
    ['API.example.com/named', 'api.EXAMPLE.com.'],
    ['api.example.com./named', 'api.example.com'],
    ['api.example.com:80/named', 'api.example.com:80'],
    ['[::1]/address', '[0::1]'],
  ] as const
  for (const [target, host] of same)
    t.equal(await statusOf(world, absolute(target, host)), 200, target + host)
  const different = [
    ['api.example.com/named', 'other'],
    ['other/named', 'api.example.com'],
    ['other/others', 'api.example.com'],
    ['api.example.com:80/named', 'api.example.com'],
    ['api.example.com/named', 'api.example.com:443'],
    ['api.example.com/named', 'api.example.com..'],
    ['u@api.example.com/named', 'api.example.com'],
    ['%61pi.example.com/named', 'api.example.com'],
  ] as const
  for (const [target, host] of different)
    t.equal(await statusOf(world, absolute(target, host)), 400, target + host)
})

t.test('HTTP/1.0: without any host, only tables without a host', async (t) => {
  t.equal(await statusOf(world, 'GET /others HTTP/1.0'), 200)
  for (const path of ['/named', '/wildcard', '/address'])
    t.equal(await statusOf(world, `GET ${path} HTTP/1.0`), 404, path)
  const absolute = 'GET http://api.example.com'
  t.equal(await statusOf(world, `${absolute}/named HTTP/1.0`), 200, 'the target names the host')
  t.equal(await statusOf(world, `${absolute}/others HTTP/1.0`), 404)
  t.equal(await statusOf(world, `GET http://%61pi.example.com/others HTTP/1.0`), 400)
})

t.test('no header names another host', async (t) => {
  const world = await startWorld(t, { routes: OTHERS, tables: TABLES, top: ['trusted_proxies: [127.0.0.1]'] })
  for (const name of ['X-Forwarded-Host', 'X-Host', 'X-Original-Host', 'X-HTTP-Host-Override', 'Forwarded'])
    for (const path of ['/named', '/others']) {
      const value = name === 'Forwarded' ? 'host=api.example.com' : 'api.example.com'
      const status = await statusOf(world, `${to('other', path)}\r\n${name}: ${value}`)
      t.equal(status, path === '/others' ? 200 : 404, name + path)
    }
})

t.test('a named host never falls back, also where its table has other methods', async (t) => {
  const world = await startWorld(t, {
    routes: ['ANY /a: public', 'ANY /*: public'],
    tables: {
      'named.yaml': table('host: api.example.com', '/a'),
      'wildcard.yaml': 'host: "*.example.com"\nupstream: main\nroutes: { ANY /*: public }\n',
    },
  })
  const post = (host: string, path: string) => `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0`
  t.equal(await statusOf(world, to('api.example.com', '/a')), 200)
  t.equal(await statusOf(world, post('api.example.com', '/a')), 405)
  t.equal(await statusOf(world, to('api.example.com', '/b')), 404)
  t.equal(await statusOf(world, post('x.example.com', '/b')), 200)
  t.equal(await statusOf(world, post('other', '/b')), 200)
  const refused = await roundTrip(world.port, `${post('api.example.com', '/a')}\r\nConnection: close\r\n\r\n`)
  t.match(refused, /\r\nAllow: GET, HEAD\r\n/)
})

t.test('where no table names a host, every host that is valid passes as before', async (t) => {
  for (const host of ['%61pi', 'a..b', "a;b'c", '127.1', 'a~b'])
    t.equal(await statusOf(withoutHosts, to(host, '/others')), 200, host)
})

t.test('the log has the host: lower case, without port, bounded', async (t) => {
  const requests = () => withoutHosts.log().filter((line) => line['msg'] === 'request')
  const before = requests().length
  for (const host of ['A.Example:8080', '[::1]:80', `${'a'.repeat(300)}`])
    await statusOf(withoutHosts, to(host, '/others'))
  await statusOf(withoutHosts, 'GET /others HTTP/1.0')
  const hosts = requests().slice(before)
  t.same(
    hosts.map(({ host }) => host),
    ['a.example', '[::1]', 'a'.repeat(255), null],
  )
})
