/** The handshake passes the same pipeline as any request, and the gateway rewrites it for the upstream. */

import t, { type Test } from 'tap'
import { serveRaw } from '../proxy/support.ts'
import { holdTime } from '../support/held-time.ts'
import { roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { startWorld, type WorldOptions } from '../support/world.ts'
import { fromClient, PING, PONG } from './frames.ts'
import { acceptOf, handshake, KEY, sendHandshake, startWebSocketUpstream } from './support.ts'
import { reservePort } from '../support/servers/ports.ts'
import { metricsOf } from '../support/operations.ts'

const ROUTES = [
  'GET /ws: trainings:list',
  'GET /ws/{id}: trainings:read',
  'GET /files/*: authenticated',
  'GET /docs/*: public',
]

async function setUp(t: Test, lines: readonly string[] = [], options: WorldOptions = {}) {
  const upstream = await startWebSocketUpstream(t, { lines })
  const world = await startWorld(t, { routes: ROUTES, target: upstream.url, ...options })
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  const token = await world.token(['s1:Viewer'])
  return { world, upstream, token, bearer: [`Authorization: Bearer ${token}`, 'Space: s1'] }
}

/** One gateway for all tests that need no options. */
const shared = await setUp(t)
t.beforeEach(() => {
  shared.upstream.sockets.length = 0
  shared.upstream.requests.length = 0
})

const rawHeadersOf = ({ rawHeaders }: { rawHeaders: readonly string[] }) =>
  Array.from(
    { length: rawHeaders.length / 2 },
    (_, i) => `${rawHeaders[i * 2]?.toLowerCase()}: ${rawHeaders[i * 2 + 1]}`,
  )

t.test('allowed: the 101 is valid, and frames pass both ways', async (t) => {
  const { world, upstream, bearer } = shared
  const client = await sendHandshake(world.port, '/ws', bearer).opened()
  const head = client.http.toLowerCase()
  t.match(client.http, `Sec-WebSocket-Accept: ${acceptOf(KEY)}\r\n`)
  t.match(head, /\r\nupgrade: websocket\r\n/)
  t.match(head, /\r\nconnection: upgrade\r\n/)
  t.match(head, /\r\nx-request-id: /)
  t.notMatch(head, /content-length|transfer-encoding|keep-alive/)
  client.sendText('hello').send(fromClient(PING, 'p'))
  await client.receives('hello')
  await until(() => client.frames.some(({ opcode }) => opcode === PONG), 'a pong')
  t.same(upstream.sockets[0]?.texts, ['hello'])
  t.ok(upstream.sockets[0]?.frames.every(({ masked }) => masked))
  client.socket.destroy()
})

t.test('the upstream gets the identity, and no identity headers of the client', async (t) => {
  const { world, upstream, bearer } = shared
  const client = await sendHandshake(world.port, '/ws', [
    ...bearer,
    'x-seatgate-user: root',
    'X_Seatgate_Tenant: globex',
    'x-forwarded-for: 9.9.9.9',
    'x-original-url: /admin',
    'Sec_WebSocket_Protocol: evil',
    'Cookie: a=b; __Host-seatgate_session=secret; c=d',
    'Connection: x-seatgate-user, sec-websocket-key, cookie2',
    'X-Kept: yes',
  ]).opened()
  const [{ request } = never()] = upstream.sockets
  t.match(request.headers, {
    'x-seatgate-user': 'alice',
    'x-seatgate-tenant': 'acme',
    'x-seatgate-space': 's1',
    'x-seatgate-seats': 'Viewer',
    'x-seatgate-permission': 'trainings:list',
    'x-seatgate-auth': 'bearer',
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'gw.example',
    'x-kept': 'yes',
    cookie: 'a=b; c=d',
    host: upstream.url.slice(7),
    'sec-websocket-key': KEY,
    'sec-websocket-version': '13',
  })
  for (const name of ['authorization', 'x-original-url', 'x_seatgate_tenant', 'sec_websocket_protocol'])
    t.notOk(name in request.headers, name)
  const lines = rawHeadersOf(request)
  t.equal(lines.filter((line) => line.startsWith('connection:')).length, 1)
  t.ok(lines.includes('connection: Upgrade'))
  t.equal(new Set(lines.map((line) => line.split(':')[0])).size, lines.length, 'no line is repeated')
  client.socket.destroy()
})

function never(): never {
  throw new Error('nothing reached the upstream')
}

t.test('path and query are forwarded unchanged', async (t) => {
  const { world, upstream, bearer } = shared
  const paths = {
    '/files/%7euser/caf%c3%a9?q=%2e%2e/..&x=a%20b': '/files/~user/caf%C3%A9?q=%2e%2e/..&x=a%20b',
    "/files/a'b(c)!*@:$&+,=?": "/files/a'b(c)!*@:$&+,=?",
    '/files/[x]|y^`{z}?a=[1]|^`{}\\': '/files/[x]|y^`{z}?a=[1]|^`{}\\',
  }
  for (const [sent, seen] of Object.entries(paths)) {
    const client = await sendHandshake(world.port, sent, bearer.slice(0, 1)).opened()
    t.equal(upstream.sockets.at(-1)?.request.url, seen)
    client.socket.destroy()
  }
  for (const bad of ['/files/%2e%2e/ws', '/files/../ws', '/files//ws', '/files/a%2fb', '/files/a\\b']) {
    const client = await sendHandshake(world.port, bad, bearer).gone()
    t.same([client.status, client.code], [400, 'path_ambiguous'], bad)
  }
  t.equal(upstream.sockets.length, 3)
})

t.test('subprotocols and extensions pass', async (t) => {
  const lines = [
    'Sec-WebSocket-Protocol: chat.v2',
    'Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover',
  ]
  const { world, upstream, bearer } = await setUp(t, [...lines, 'Set-Cookie: a=b', 'X-Two: 1', 'X-Two: 2'])
  const client = await sendHandshake(world.port, '/ws', [
    ...bearer,
    'Sec-WebSocket-Protocol: chat.v1, chat.v2',
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
  ]).opened()
  t.match(upstream.sockets[0]?.request.headers, {
    'sec-websocket-protocol': 'chat.v1, chat.v2',
    'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
  })
  for (const line of [...lines, 'Set-Cookie: a=b', 'X-Two: 1', 'X-Two: 2'])
    t.match(client.http, `${line}\r\n`)
  client.socket.destroy()
})

t.test('refused like any request, with an HTTP response, and nothing reaches the upstream', async (t) => {
  const { world, upstream, token, bearer } = shared
  const forged = `${token.slice(0, -4)}AAAA`
  const expected: [string, readonly string[], number, string][] = [
    ['/ws', [], 401, 'credentials_missing'],
    ['/ws', [`Authorization: Bearer ${forged}`, 'Space: s1'], 401, 'token_invalid'],
    ['/ws', ['x-api-key: sk_nonsense', 'Space: s1'], 401, 'api_key_invalid'],
    ['/ws', bearer.slice(0, 1), 400, 'space_required'],
    ['/ws', [bearer[0] ?? '', 'Space: s2'], 403, 'no_seat_in_space'],
    ['/ws/7', bearer, 403, 'permission_denied'],
    ['/nowhere', bearer, 404, 'route_not_found'],
    ['/ws', [...bearer, 'Space: s1'], 400, 'request_malformed'],
    ['/ws', [...bearer, 'Host: other'], 400, 'request_malformed'],
  ]
  for (const [path, lines, status, code] of expected) {
    const client = await sendHandshake(world.port, path, lines).gone()
    t.same([client.status, client.code], [status, code], `${path} ${code}`)
    t.match(client.http, /\r\nConnection: close\r\n/i)
    t.match(client.http, /application\/problem\+json/)
    if (status === 401) t.match(client.http, /\r\nWWW-Authenticate: Bearer/)
  }
  t.equal(upstream.sockets.length + upstream.requests.length, 0)
  const codes = world.log().map(({ code }) => code)
  for (const [, , , code] of expected) t.ok(codes.includes(code), `${code} is in the log`)
})

t.test("another tenant's Seat of the same name grants nothing", async (t) => {
  const { world, upstream } = shared
  const token = await world.token(['s1:Viewer'], { tenant: 'globex' })
  const client = await sendHandshake(world.port, '/ws', [
    `Authorization: Bearer ${token}`,
    'Space: s1',
  ]).gone()
  t.same([client.status, client.code], [403, 'permission_denied'])
  t.equal(upstream.sockets.length, 0)
})

t.test('an invalid handshake is a 400, another version a 426', async (t) => {
  const { world, upstream } = shared
  const whole = handshake('/docs/a')
  const broken: Record<string, string> = {
    'not GET': whole.replace('GET', 'POST'),
    'HTTP/1.0': whole.replace('HTTP/1.1', 'HTTP/1.0'),
    'no Connection: upgrade': whole.replace('Connection: Upgrade', 'Connection: keep-alive'),
    'two Upgrade': whole.replace('Upgrade: websocket', 'Upgrade: websocket\r\nUpgrade: websocket'),
    'a list of protocols': whole.replace('Upgrade: websocket', 'Upgrade: websocket, h2c'),
    'no key': whole.replace(`Sec-WebSocket-Key: ${KEY}\r\n`, ''),
    'two keys': whole.replace('Sec-WebSocket-Version', `Sec-WebSocket-Key: ${KEY}\r\nSec-WebSocket-Version`),
    'a short key': whole.replace(KEY, 'dGhlIHNhbXBsZQ=='),
    'a key that is no base64': whole.replace(KEY, 'dGhlIHNhbXBsZSBub25jZ!=='),
    'a key with stray bits': whole.replace(KEY, 'dGhlIHNhbXBsZSBub25jZR=='),
    'no version': whole.replace('Sec-WebSocket-Version: 13\r\n', ''),
    'two versions': whole.replace('Version: 13', 'Version: 13\r\nSec-WebSocket-Version: 13'),
    'a body': whole.replace('Upgrade: ', 'Content-Length: 3\r\nUpgrade: ').concat('abc'),
    chunks: whole.replace('Upgrade: ', 'Transfer-Encoding: chunked\r\nUpgrade: ').concat('0\r\n\r\n'),
    'an Expect': whole.replace('Upgrade: ', 'Expect: 100-continue\r\nUpgrade: '),
  }
  for (const [name, bytes] of Object.entries(broken)) {
    const answer = await roundTrip(world.port, bytes)
    t.match(answer, /^HTTP\/1\.1 400 /, name)
    t.match(answer, '"code":"request_malformed"', name)
    t.match(answer, /\r\nconnection: close\r\n/i, name)
  }
  const other = await roundTrip(world.port, whole.replace('Version: 13', 'Version: 8'))
  t.match(other, /^HTTP\/1\.1 426 /)
  t.match(other, '"code":"upgrade_required"')
  t.match(other, '\r\nSec-WebSocket-Version: 13\r\n')
  t.match(other, '\r\nUpgrade: websocket\r\n')
  t.match(other, /\r\nConnection: Upgrade, close\r\n/)
  t.equal(upstream.sockets.length + upstream.requests.length, 0)
})

t.test('case-insensitive', async (t) => {
  const { world } = shared
  const odd = handshake('/docs/a')
    .replace('Upgrade: websocket', 'UPGRADE: WebSocket')
    .replace('Connection: Upgrade', 'connection: keep-alive, UPGRADE')
  t.match(await roundTrip(world.port, odd, /\r\n\r\n/), /^HTTP\/1\.1 101 /)
})

t.test('an empty body is permitted and not announced', async (t) => {
  const { world, upstream } = shared
  const client = await sendHandshake(world.port, '/docs/a', ['Content-Length: 0']).opened()
  client.sendText('hello')
  await client.receives('hello')
  t.notOk('content-length' in (upstream.sockets[0]?.request.headers ?? {}))
  client.socket.destroy()
})

t.test('another protocol is an ordinary request, and the connection closes after it', async (t) => {
  const { world, upstream } = shared
  const answer = await roundTrip(
    world.port,
    handshake('/docs/a').replace('Upgrade: websocket', 'Upgrade: h2c'),
  )
  t.match(answer, /^HTTP\/1\.1 200 /)
  t.match(answer, /plain$/)
  t.same(upstream.requests[0]?.headers.upgrade, undefined)
})

t.test('built-in endpoints respond as usual', async (t) => {
  const { world } = shared
  const key = `x-api-key: ${world.keys.acme}`
  const client = await sendHandshake(world.port, '/v1/seats', [key, 'Space: admin']).gone()
  t.equal(client.status, 200)
  t.match(client.http, '"name":"Viewer"')
})

t.test('no connection is a 502, after another target was tried', async (t) => {
  const gone = await reservePort(t)
  const { world } = await setUp(t, [], { target: `http://127.0.0.1:${gone}` })
  const client = await sendHandshake(world.port, '/docs/a').gone()
  t.same([client.status, client.code], [502, 'upstream_unreachable'])
  const upstream = await startWebSocketUpstream(t)
  const both = await startWorld(t, {
    routes: ROUTES,
    target: [`http://127.0.0.1:${gone}`, upstream.url],
    upstream: ['balance: round-robin'],
  })
  // The ejection of the target lasts as long as the test.
  holdTime(t)
  for (let i = 0; i < 6; i++) (await sendHandshake(both.port, '/docs/a').opened()).socket.destroy()
  const metrics = await metricsOf(both)
  t.match(metrics, /seatgate_upstream_retries_total\{upstream="main"\} 3$/m)
  t.match(metrics, /seatgate_upstream_ejections_total\{upstream="main"\} 1$/m)
})

t.test('an upstream that does not answer the handshake meets response_timeout', async (t) => {
  const upstream = await startWebSocketUpstream(t, { answer: () => {} })
  const world = await startWorld(t, {
    routes: ROUTES,
    target: upstream.url,
    upstream: ['response_timeout: 200ms'],
  })
  const client = await sendHandshake(world.port, '/docs/a').gone()
  t.same([client.status, client.code], [504, 'upstream_timeout'])
})

t.test('a client that disconnects before the response cancels the handshake', async (t) => {
  let closed = false
  let arrived = false
  const upstream = await startWebSocketUpstream(t, {
    answer: (_request, socket) => {
      arrived = true
      socket.on('close', () => {
        closed = true
      })
      socket.on('end', () => socket.end()).resume()
    },
  })
  const world = await startWorld(t, { routes: ROUTES, target: upstream.url })
  for (const leave of ['end', 'resetAndDestroy'] as const) {
    arrived = false
    closed = false
    const client = sendHandshake(world.port, '/docs/a')
    await until(() => arrived, 'the handshake')
    client.socket[leave]()
    await until(() => closed, 'the end at the upstream')
  }
})

t.test('the target passes unchanged: an encoded slash, and UTF-8 in the query', async (t) => {
  // Node.js' own server rejects such a query, so the test reads the raw bytes.
  const lines: string[] = []
  const port = await serveRaw(t, (socket) =>
    socket.once('data', (chunk: Buffer) => {
      lines.push(chunk.toString('latin1').split('\r\n', 1)[0] ?? '')
      socket.destroy()
    }),
  )
  const target = `http://127.0.0.1:${port}`
  const world = await startWorld(t, { routes: ROUTES, target, upstream: ['allow_encoded_slashes: true'] })
  const path = '/docs/a%2Fb?q=\xc3\xa9&\xff=%e9'
  t.match(await roundTrip(world.port, handshake(path), /"code"/), /upstream_/)
  t.same(lines, [`GET ${path} HTTP/1.1`])
  t.match(await roundTrip(world.port, handshake('/docs/a%2F..%2Fb'), /"code"/), 'path_ambiguous')
  t.equal(lines.length, 1)
})
