/**
 * CVE-2026-33495 (Oathkeeper), CVE-2026-35051 (Traefik), CVE-2026-57210 and GHSA-4jgr-pg2m-m988 (Heimdall),
 * CVE-2022-24112 (APISIX): the proxy trusted any client's statements about its address, scheme, host or prefix.
 */

import t from 'tap'
import { directLines, forwardedFields, peerAddress, TrustedProxies } from '../../src/proxy/forwarded.ts'
import { fieldsOf, get, seenBy, valuesOf } from './support.ts'

const TRUSTED = { trustedProxies: ['10.0.0.0/8', '127.0.0.0/8'] }

t.test('the values of an untrusted peer are dropped', async (t) => {
  const seen = await seenBy(
    t,
    get(
      'Forwarded: for=192.0.2.66',
      'X-Forwarded-For: 192.0.2.66',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Prefix: /192.0.2.66',
      'X-Forwarded: 192.0.2.66',
      'X-Real-IP: 192.0.2.66',
      'True-Client-IP: 192.0.2.66',
      'CF-Connecting-IP: 192.0.2.66',
    ),
    { trustedProxies: ['10.0.0.0/8'] },
  )
  t.notMatch(seen, /192\.0\.2\.66|https|evil/)
  t.same(valuesOf(seen, 'x-forwarded-for'), ['127.0.0.1'])
})

t.test('the values of a trusted proxy are continued', async (t) => {
  const seen = await seenBy(
    t,
    get(
      'Forwarded: for=192.0.2.1;proto=https, for="[2001:db8::1]:80"',
      'X-Forwarded-For: 192.0.2.1, 2001:db8::1',
      'X-Forwarded-For: 198.51.100.7:4711',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: shop.example:8443',
      'X-Forwarded-Prefix: /shop',
      'X-Real-IP: 192.0.2.1',
    ),
    TRUSTED,
  )
  const forwarded = fieldsOf(seen).filter(([name]) => name.includes('forwarded') || name === 'x-real-ip')
  t.same(forwarded, [
    ['x-forwarded-prefix', '/shop'],
    ['x-real-ip', '192.0.2.1'],
    ['x-forwarded-for', '192.0.2.1, 2001:db8::1, 198.51.100.7:4711, 127.0.0.1'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-host', 'shop.example:8443'],
    ['forwarded', 'for=192.0.2.1;proto=https, for="[2001:db8::1]:80", for=127.0.0.1'],
  ])
})

t.test('malformed values are dropped, also from a trusted proxy', async (t) => {
  for (const line of [
    'X-Forwarded-For: <script>',
    'X-Forwarded-For: 192.0.2.1, <script>,, 10.0.0.1',
    'X-Forwarded-For: , ,',
    'X-Forwarded-For: 192.0.2.1; 10.0.0.1',
    'X-Forwarded-For: 192.0.2.256',
    'X-Forwarded-For: [::1',
    'X-Forwarded-Proto: HTTPS://',
    'X-Forwarded-Proto: https, ftp',
    'X-Forwarded-Proto: https https',
    'X-Forwarded-Host: evil.example/path',
    'X-Forwarded-Host: evil.example/path, b.example',
    'X-Forwarded-Host: user@evil.example',
    'Forwarded: for="192.0.2.1',
    'Forwarded: for=192.0.2.1;for=192.0.2.2',
    'Forwarded: for=192.0.2.1 ;; proto',
    'Forwarded: for=2001:db8::1',
    'Forwarded: ,;, ',
    'Forwarded: for=192.0.2.1;host="a\\"',
    'Forwarded: evil',
    'Forwarded: for="192.0.2.66, 10.1.2.3"',
    `Forwarded: for=203.0.113.9${';'.repeat(300)}`,
    `Forwarded: for=203.0.113.9;${Array.from({ length: 300 }, (_, at) => `p${at}=a`).join(';')}`,
    'Forwarded: for=203.0.113.9;proto="https,https"',
    'Forwarded: for=203.0.113.9;Host="evil.example,b.example"',
  ]) {
    const seen = await seenBy(t, get(line), TRUSTED)
    t.same(
      fieldsOf(seen).filter(([name]) => name.includes('forwarded')),
      [
        ['x-forwarded-for', '127.0.0.1'],
        ['x-forwarded-proto', 'http'],
        ['x-forwarded-host', 'gw.example'],
      ],
      line,
    )
  }
})

t.test('the spellings of a scheme, and lists', async (t) => {
  const https = [
    'https',
    'HTTPS',
    'wss',
    'WSS',
    'https, https',
    'https,wss',
    ' https ,, https',
    'https\r\nX-Forwarded-Proto: https',
  ]
  const http = ['http', 'ws', 'Http', 'https, http', 'http, https', 'https\r\nX-Forwarded-Proto: http']
  for (const [scheme, values] of Object.entries({ https, http }))
    for (const value of values) {
      const seen = await seenBy(t, get(`X-Forwarded-Proto: ${value}`), TRUSTED)
      t.same(valuesOf(seen, 'x-forwarded-proto'), [scheme], value)
    }
  for (const [value, host] of [
    ['shop.example, shop.example', 'shop.example'],
    ['shop.example,,', 'shop.example'],
    ['evil.example, shop.example:8443', 'shop.example:8443'],
    ['evil.example\r\nX-Forwarded-Host: shop.example', 'shop.example'],
  ])
    t.same(valuesOf(await seenBy(t, get(`X-Forwarded-Host: ${value}`), TRUSTED), 'x-forwarded-host'), [host])
  const chain = await seenBy(t, get('X-Forwarded-For: 203.0.113.9,,10.1.2.3 ,'), TRUSTED)
  t.same(valuesOf(chain, 'x-forwarded-for'), ['203.0.113.9, 10.1.2.3, 127.0.0.1'])
})

t.test('Forwarded alone: what the proxy says whose peer is the client', async (t) => {
  const cases: [value: string, chain: string, proto: string, host: string][] = [
    ['for=203.0.113.9;proto=https', '203.0.113.9', 'https', 'gw.example'],
    [
      'For="[2001:DB8::1]:4711"; Proto=WSS; Host="shop.example:8443"',
      '[2001:DB8::1]:4711',
      'https',
      'shop.example:8443',
    ],
    [
      'for=192.0.2.66;host=evil.example;proto=https, for=203.0.113.9;proto=http, for=10.1.2.3;proto=https;host=inner',
      '192.0.2.66, 203.0.113.9, 10.1.2.3',
      'http',
      'gw.example',
    ],
    [
      'for=192.0.2.66;host=evil.example,, for=203.0.113.9;host=shop.example\r\nForwarded: for=10.1.2.3',
      '192.0.2.66, 203.0.113.9, 10.1.2.3',
      'http',
      'shop.example',
    ],
    ['for=192.0.2.66;proto=https;host=evil.example, proto=http', '192.0.2.66, unknown', 'http', 'gw.example'],
    [
      'for=192.0.2.66;proto=https;host=evil.example, for=_hidden',
      '192.0.2.66, _hidden',
      'http',
      'gw.example',
    ],
    [
      'for=10.9.9.9;proto=https;host=inner.example, for=10.1.2.3;host=proxy',
      '10.9.9.9, 10.1.2.3',
      'https',
      'inner.example',
    ],
    ['proto=https', 'unknown', 'https', 'gw.example'],
    ['for=203.0.113.9;proto=ftp;host="a/b"', '203.0.113.9', 'http', 'gw.example'],
  ]
  for (const [value, chain, proto, host] of cases) {
    const seen = await seenBy(t, get(`Forwarded: ${value}`), TRUSTED)
    t.same(valuesOf(seen, 'x-forwarded-for'), [`${chain}, 127.0.0.1`], value)
    t.same(valuesOf(seen, 'x-forwarded-proto'), [proto], value)
    t.same(valuesOf(seen, 'x-forwarded-host'), [host], value)
  }
})

t.test('a long Forwarded of proxies that say all there is', async (t) => {
  const list = Array(64).fill('by=_a;for=203.0.113.9;host=shop.example;proto=https').join(', ')
  const seen = await seenBy(t, get(`Forwarded: ${list}`), TRUSTED)
  t.same(valuesOf(seen, 'x-forwarded-host'), ['shop.example'])
  t.same(valuesOf(seen, 'forwarded'), [`${list}, for=127.0.0.1`])
})

t.test('beside a field X-Forwarded-*, Forwarded is continued and not read', async (t) => {
  const forwarded = 'Forwarded: for=192.0.2.66;proto=https;host=evil.example'
  for (const line of [
    'X-Forwarded-For: 203.0.113.9',
    'X-Forwarded-Proto: http',
    'X-Forwarded-Host: shop.example',
    'X-Forwarded-For: ,',
  ]) {
    const seen = fieldsOf(await seenBy(t, get(forwarded, line), TRUSTED))
    const others = seen.filter(([name]) => name !== 'forwarded')
    t.notMatch(others.join(' '), /192\.0\.2\.66|https|evil/, line)
    t.same(
      seen.filter(([name]) => name === 'forwarded').map(([, value]) => value),
      ['for=192.0.2.66;proto=https;host=evil.example, for=127.0.0.1'],
    )
  }
})

t.test('obfuscated identifiers of hops are continued', async (t) => {
  const seen = await seenBy(
    t,
    get('X-Forwarded-For: unknown, _hidden.1, [2001:db8::1]:443, [2001:db8::2]'),
    TRUSTED,
  )
  t.same(valuesOf(seen, 'x-forwarded-for'), [
    'unknown, _hidden.1, [2001:db8::1]:443, [2001:db8::2], 127.0.0.1',
  ])
})

t.test('trusted peers', async (t) => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '2001:db8::1'])
  const trusted = ['10.0.0.0', '10.255.255.255', '192.0.2.7', 'fd12::1', '2001:db8::1']
  const untrusted = [
    '11.0.0.1',
    '192.0.2.8',
    'fe80::1',
    '2001:db8::2',
    'unknown',
    '',
    '10.0.0.1.evil',
    '::ffff:10.0.0.1x',
  ]
  for (const address of trusted) t.equal(proxies.has(address), true, address)
  for (const address of untrusted) t.equal(proxies.has(address), false, address)
  t.equal(new TrustedProxies([]).has('127.0.0.1'), false)
  t.throws(() => new TrustedProxies(['10.0.0.0/33']))
  t.throws(() => new TrustedProxies(['example.com']))
  t.throws(() => new TrustedProxies(['10.0.0.0/8/8']))
  t.throws(() => new TrustedProxies(['10.0.0.0/']))
})

t.test('the spelling of a peer address', async (t) => {
  t.equal(peerAddress('::ffff:192.0.2.1'), '192.0.2.1')
  t.equal(peerAddress('::ffff:c000:201'), '::ffff:c000:201')
  t.equal(peerAddress('fe80::1%eth0'), 'fe80::1')
  t.equal(peerAddress('::1'), '::1')
  t.equal(peerAddress(undefined), 'unknown')
})

t.test('each request has its own host, and each connection its peer', async (t) => {
  const connections = [
    { connection: {}, peer: '192.0.2.1', proto: 'http' },
    { connection: {}, peer: '192.0.2.2', proto: 'https' },
  ]
  const hosts = ['a.example', 'b.example', 'b.example', '', 'x'.repeat(300), 'a.example', 'x'.repeat(300)]
  for (const host of hosts)
    for (const { connection, peer, proto } of connections)
      t.same(
        directLines(connection, peer, proto, host).pairs,
        forwardedFields(null, peer, proto, host),
        `${peer} ${host}`,
      )
})
