/** The request target as sent: SPEC 4.1 in full. The same string is matched and forwarded. */

import t from 'tap'
import { get, startGateway, passesAll } from './gateway.ts'

/** A route exists for every path, so that a path that is not refused would be forwarded. */
const routes = ['GET /*: public', 'GET /admin/*: trainings:list']
const gateway = await startGateway(t, { routes: [...routes] })
const at = (targets: readonly string[]) => Object.fromEntries(targets.map((each) => [each, get('', each)]))

const ambiguous: Readonly<Record<string, readonly string[]>> = {
  'an encoded slash': ['/a%2fb', '/a%2Fb', '/%2f', '/a/%2F', '/docs%2f..%2fadmin', '/%2fadmin/a'],
  'an encoded semicolon': ['/%3b', '/a%3Bb', '/a%3bb=c/d', '/..%3b/admin/a', '/docs/%2e%2E%3Bx/admin/a'],
  'an encoded backslash': ['/a%5cb', '/a%5Cb', '/%5c', '/..%5cadmin', '/docs/..%5c..%5cadmin'],
  'an encoded NUL or control byte': [
    '/a%00',
    '/%00',
    '/a%00b',
    '/%01',
    '/a%0a',
    '/a%0D%0Ab',
    '/%09',
    '/%1f',
    '/%7F',
  ],
  'a dot segment': [
    '/.',
    '/..',
    '/./a',
    '/../a',
    '/a/.',
    '/a/..',
    '/a/./b',
    '/a/../b',
    '/docs/../admin/a',
    '/...//..',
  ],
  'an encoded dot segment': [
    '/%2e',
    '/%2e%2e',
    '/%2E%2E/a',
    '/.%2e/a',
    '/%2e./a',
    '/a/%2e/b',
    '/docs/%2e%2e/admin/a',
    '/docs/.%2E/admin/a',
    '/docs/%2e%2E%2fadmin',
  ],
  'a dot segment with a parameter': [
    '/.;/a',
    '/..;/admin/a',
    '/docs/..;a=b/admin/a',
    '/%2e%2e;/a',
    '/docs/.;.;/a',
  ],
  'an invalid escape': [
    '/%',
    '/a%',
    '/%a',
    '/%2',
    '/%2/',
    '/%zz',
    '/%g0',
    '/%0g',
    '/%u0041',
    '/%%',
    '/%%2e',
    '/%+2e',
    '/% 2e',
  ],
  'escapes that are not UTF-8': [
    '/%80',
    '/%ff',
    '/%fe%ff',
    '/%c0%80',
    '/%c0%ae%c0%ae/a',
    '/%c0%af',
    '/%c1%9c',
    '/%e0%80%af',
    '/%e0%80%ae',
    '/%f0%80%80%af',
    '/%ed%a0%80',
    '/%f4%90%80%80',
    '/%f8%80%80%80%af',
    '/%c3',
    '/%c3a',
    '/%c3/%a9',
    '/%e2%82',
    '/%a9%c3',
  ],
  'an empty segment': ['//', '//a', '/a//', '/a//b', '///', '//evil.example/a', '/docs//../a', '/a//?b'],
  'a raw backslash': ['/\\', '/a\\b', '/docs\\..\\admin', '/..\\a', '/\\\\evil.example'],
  'a fragment': ['/#', '/a#', '/a#b', '/admin/a#/docs/a', '/a?b#c', '/a?\xc3\xa9#b', '/a?#', '/#/..'],
  'a semicolon': ['/;', '/a;', '/a;b', '/a;b=c/d', '/;a/b', '/docs/a;jsessionid=1', '/admin;/a'],
  'a raw control byte': ['/a\x01', '/\x1f', '/a\x7fb', '/a?\x01', '/\x0b'],
  'a byte beyond ASCII': ['/\x80', '/caf\xc3\xa9', '/caf\xe9', '/\xef\xbc\x8f', '/\xc0\xae', '/a\xa0b'],
}

for (const [what, targets] of Object.entries(ambiguous)) {
  t.test(what, async (t) => {
    for (const target of targets) {
      const { all } = await gateway.send(get('', target), { answers: 1 })
      t.match(all, [{ status: 400 }], JSON.stringify(target))
      t.ok(['path_ambiguous', 'request_malformed'].includes(all[0]?.code ?? ''))
      t.same(gateway.upstream.requests, [], target)
    }
  })
}

t.test('each of the 256 bytes in a path', async (t) => {
  const may = /^[A-Za-z0-9\-._~!$&'()*+,=:@|^`{}"<>[\]?/]$/
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    const { all } = await gateway.send(get('', `/a${byte}b`), { answers: 1 })
    t.equal(all[0]?.status, may.test(byte) ? 200 : 400, `0x${code.toString(16)}`)
  }
  await gateway.agrees(t)
})

t.test('each of the 256 escapes: decoded, kept with upper-case hex, or refused', async (t) => {
  for (let code = 0; code < 256; code++) {
    const hex = code.toString(16).padStart(2, '0')
    const byte = String.fromCharCode(code)
    const { all } = await gateway.send(get('', `/a%${hex}b`), { answers: 1 })
    const [got] = gateway.upstream.requests
    gateway.forget()
    if (/[A-Za-z0-9\-._~]/.test(byte)) t.equal(got?.target, `/a${byte}b`, hex)
    else if (code < 0x20 || code >= 0x7f || '/\\;'.includes(byte)) t.equal(all[0]?.status, 400, hex)
    else t.equal(got?.target, `/a%${hex.toUpperCase()}b`, hex)
  }
})

t.test('the matched and the forwarded path are one string', async (t) => {
  for (const [sent, got] of [
    ['/%64ocs/%61', '/docs/a'],
    ['/docs/%7e%2d%5f%2E', '/docs/~-_.'],
    ['/docs/%e2%82%ac%c3%a9', '/docs/%E2%82%AC%C3%A9'],
    ['/docs/a%20b%3f%23%3a', '/docs/a%20b%3F%23%3A'],
    ['/docs/%252e%252e/a', '/docs/%252e%252e/a'],
    ['/docs/%25%32%65', '/docs/%252e'],
    ['/docs/a/', '/docs/a/'],
    ['/docs/...', '/docs/...'],
    ['/docs/.a/..b/c..', '/docs/.a/..b/c..'],
    ['/docs/a?x=%2e%2e%2f//../;', '/docs/a?x=%2e%2e%2f//../;'],
    ['/docs/a??', '/docs/a??'],
    ['/docs/a?', '/docs/a?'],
    ['/', '/'],
  ] as const) {
    await gateway.send(get('', sent), { answers: 1 })
    t.equal(gateway.upstream.requests[0]?.target, got, sent)
    await gateway.agrees(t)
    gateway.forget()
  }
})

t.test('no spelling of a protected path matches another route', async (t) => {
  for (const target of [
    '/admin/a',
    '/%61dmin/a',
    '/adm%69n/a',
    '/%61%64%6d%69%6e/a',
    '/admin/',
    '/admin/%2561',
  ])
    t.match((await gateway.send(get('', target), { answers: 1 })).all, [{ status: 401 }], target)
  t.same(gateway.upstream.requests, [])
})

t.test('a semicolon passes where the upstream accepts it, and never after dots', async (t) => {
  const gateway = await startGateway(t, { routes: [...routes], upstream: ['allow_semicolons: true'] })
  await passesAll(t, gateway, { ...at(['/a;b', '/a;b=c/d', '/;a', '/a%3bb']), next: get('', '/docs/next') })
  for (const target of ['/..;/a', '/docs/..;a=b/c', '/%2e%2e;/a', '/.;/a', '/..%3b/a', '/.%3Bx/a'])
    t.match((await gateway.send(get('', target), { answers: 1 })).all, [
      { status: 400, code: 'path_ambiguous' },
    ])
})

t.test('an encoded slash passes where the upstream accepts it, as a part of its segment', async (t) => {
  const gateway = await startGateway(t, {
    routes: [
      'GET /*: public',
      'GET /admin/{x}: trainings:list',
      'GET /pkg/{name}: public',
      'GET /plain/*: public',
    ],
    upstream: ['allow_encoded_slashes: true'],
    beside: {
      name: 'opaque',
      upstream: [],
      routes: ['GET /without/*: public', 'GET /without/a/{x}: public'],
    },
  })
  for (const [sent, got] of [
    ['/pkg/%40scope%2fname', '/pkg/%40scope%2Fname'],
    ['/pkg/@scope%2Fname?a=%2f', '/pkg/@scope%2Fname?a=%2f'],
    ['/api/v4/projects/group%2Fsub%2Fproject/issues', '/api/v4/projects/group%2Fsub%2Fproject/issues'],
    ['/api/queues/%2f/orders', '/api/queues/%2F/orders'],
    ['/b/o/a%2F%2Fb%2F', '/b/o/a%2F%2Fb%2F'],
    ['/a%252Fb', '/a%252Fb'],
    ['/a%2F...%2F..b', '/a%2F...%2F..b'],
  ] as const) {
    await gateway.send(get('', sent), { answers: 1 })
    t.equal(gateway.upstream.requests[0]?.target, got, sent)
    await gateway.agrees(t)
    gateway.forget()
  }
  const routeOf = async (target: string) => {
    await gateway.send(get('', target), { answers: 1 })
    await gateway.agrees(t)
    const line = gateway.world.log().findLast(({ msg }) => msg === 'request')
    gateway.forget()
    return [line?.status, line?.route]
  }
  t.same(await routeOf('/pkg/a%2Fb'), [200, 'GET /pkg/{name}'])
  t.same(await routeOf('/admin%2Fa'), [200, 'GET /*'], 'one segment that no entry matches')
  t.same(await routeOf('/admin/a%2Fb'), [401, 'GET /admin/{x}'])
  for (const target of [
    '/a%2f..',
    '/..%2fadmin/a',
    '/pkg/..%2F..%2Fadmin/a',
    '/pkg/%2e%2e%2fadmin/a',
    '/pkg/a%2F%2e%2E%2Fb',
    '/pkg/%2F.%2Fb',
    '/pkg/%2f..',
    '/pkg/a%2F..;x',
    '/pkg/a%2F..%3bx',
    '/pkg/a%5cb',
    '/pkg/a%2F%5Cb',
    '/pkg/a%2F%00',
    '/pkg/a%2F%0a',
    '/pkg/a%2F%c0%af',
    '/pkg//a%2Fb',
    '/pkg/a%2',
    '/pkg/a%2Fb;c',
    '/without/a%2Fb',
    '/without/a/b%2fc',
    '/v1/seats/a;b',
    '/v1/seats/a%2F..',
    '/v1%2Fseats/a;',
  ]) {
    const { all } = await gateway.send(get('', target), { answers: 1 })
    t.match(all, [{ status: 400, code: 'path_ambiguous' }], target)
  }
  const { all } = await gateway.send(get('', '/v1/seats/a%2Fb'), { answers: 1 })
  t.match(all, [{ status: 401 }], 'an id of the gateway itself may have one')
  t.same(gateway.upstream.requests, [])
})

t.test('no header changes path or method', async (t) => {
  const names = [
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-HTTP-Method-Override',
    'X-HTTP-Method',
    'X-Method-Override',
    'X-Forwarded-Uri',
    'X-Original-Method',
    'X_Original_URL',
  ]
  await gateway.send(get(names.map((name) => `${name}: /admin/a\r\n`).join(''), '/docs/a'), { answers: 1 })
  t.equal(gateway.upstream.requests.length, 1)
  t.notMatch(gateway.upstream.streams.join(''), '/admin')
})
