/** The header fields for the upstream, and those that never reach it. */

import t from 'tap'
import { ALICE, fieldsOf, get, seenBy, valuesOf } from './support.ts'

t.test('the caller as authenticated, and the origin of the request', async (t) => {
  const seen = await seenBy(t, get('Accept: */*'))
  t.same(fieldsOf(seen), [
    ['host', fieldsOf(seen)[0]?.[1]],
    ['accept', '*/*'],
    ['x-seatgate-auth', 'bearer'],
    ['x-seatgate-tenant', 'acme'],
    ['x-seatgate-user', 'alice'],
    ['x-seatgate-email', 'alice@acme.example'],
    ['x-seatgate-space', 'north'],
    ['x-seatgate-permission', 'trainings:read'],
    ['x-seatgate-seats', 'Trainer'],
    ['x-seatgate-seats-count', '1'],
    ['x-request-id', 'id-1'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-forwarded-proto', 'http'],
    ['x-forwarded-host', 'gw.example'],
  ])
  t.match(valuesOf(seen, 'host')[0], /^127\.0\.0\.1:\d+$/)
})

t.test('only the Seats that granted, each name encoded, joined by commas', async (t) => {
  const seen = await seenBy(t, get(), {
    decision: {
      seats: [
        { name: 'Head, north', id: '1', verdict: 'grants' },
        { name: 'Reader', id: '2', verdict: 'lacks_permission' },
        { name: 'Trainer/ü', id: '3', verdict: 'grants' },
        { name: 'Gone', id: null, verdict: 'unknown' },
      ],
    },
  })
  t.same(valuesOf(seen, 'x-seatgate-seats'), ['Head%2C%20north,Trainer%2F%C3%BC'])
})

t.test('absent values have no header', async (t) => {
  const seen = await seenBy(t, get(), {
    route: { requirement: 'authenticated' },
    decision: { principal: { ...ALICE, email: null }, space: null, seats: [] },
  })
  t.same(
    fieldsOf(seen)
      .map(([name]) => name)
      .filter((name) => name.startsWith('x-seatgate')),
    ['x-seatgate-auth', 'x-seatgate-tenant', 'x-seatgate-user'],
  )
})

t.test('a public route: no caller, and no credential of one', async (t) => {
  const seen = await seenBy(
    t,
    get('Authorization: Bearer x', 'X-Api-Key: sk_x', 'Cookie: a=b; __Host-seatgate-session=x'),
    { route: { requirement: 'public' }, passAuthorization: true },
  )
  t.notMatch(seen, /x-seatgate|authorization|sk_x|__Host/i)
  t.same(valuesOf(seen, 'cookie'), ['a=b'])
})

t.test(
  'credentials are removed, except Authorization where the upstream is configured to receive it',
  async (t) => {
    const lines = ['Authorization: Bearer tok', 'X-API-Key: sk_x', 'Proxy-Authorization: Basic tok']
    t.notMatch(await seenBy(t, get(...lines)), /tok|sk_x/)
    const passed = await seenBy(t, get(...lines), { passAuthorization: true })
    t.same(valuesOf(passed, 'authorization'), ['Bearer tok'])
    t.notMatch(passed, /sk_x|Basic/)
  },
)

t.test('hop-by-hop headers are removed', async (t) => {
  const seen = await seenBy(
    t,
    [
      'GET / HTTP/1.1',
      'Host: gw.example',
      'Keep-Alive: timeout=5',
      'Proxy-Connection: close',
      'TE: trailers',
      'Trailer: X-Sum',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      'Expect: 100-continue',
      'Proxy: http://evil.example',
      'Connection: close, Upgrade, HTTP2-Settings',
      '',
      '',
    ].join('\r\n'),
  )
  const names = fieldsOf(seen).map(([name]) => name)
  for (const name of [
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'upgrade',
    'http2-settings',
    'expect',
    'proxy',
  ])
    t.notOk(names.includes(name), name)
  t.same(valuesOf(seen, 'connection'), [])
})

t.test('pass_host keeps the client’s Host', async (t) => {
  const seen = await seenBy(t, get(), { passHost: true })
  t.same(valuesOf(seen, 'host'), ['gw.example'])
  t.same(valuesOf(seen, 'x-forwarded-host'), ['gw.example'])
  const none = await seenBy(t, 'GET / HTTP/1.0\r\n\r\n', { passHost: true })
  t.match(valuesOf(none, 'host')[0], /^127\.0\.0\.1:\d+$/)
  t.same(valuesOf(none, 'x-forwarded-host'), [])
})

t.test('everything else passes: spelling, order, repetition and bytes', async (t) => {
  const seen = await seenBy(
    t,
    get('X-b: 2', 'x-A: \xe4\xff', 'X-b: 3', 'X_Own: yes', 'Space: north', '1: 2', '__proto__: x'),
  )
  t.match(
    seen,
    '\r\nX-b: 2\r\nx-A: \xe4\xff\r\nX-b: 3\r\nX_Own: yes\r\nSpace: north\r\n1: 2\r\n__proto__: x\r\n',
  )
})

t.test("the request id is the gateway's, whatever the client sends", async (t) => {
  t.same(valuesOf(await seenBy(t, get('X-Request-Id: theirs', 'x_request_id: theirs')), 'x-request-id'), [
    'id-1',
  ])
})
