/** Invalid responses to a handshake: never a tunnel, and the next request is unaffected. */

import type { Socket } from 'node:net'
import t from 'tap'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { codeOf, fromClient, fromServer, TEXT } from './frames.ts'
import { acceptOf, KEY, sendHandshake, startWebSocketUpstream, switching } from './support.ts'

const ROUTES = ['GET /ws/*: public']
const OFFERED = ['Sec-WebSocket-Protocol: a, b', 'Sec-WebSocket-Extensions: permessage-deflate']
const smuggled = 'GET /ws/smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

/** What the upstream sends, and what it does then. */
const hostile: { bytes: string; after: (socket: Socket) => void } = { bytes: '', after: () => {} }
const received: string[] = []
const upstream = await startWebSocketUpstream(t, {
  answer: (_request, socket) => {
    socket.on('data', (chunk) => received.push(chunk.toString('latin1')))
    socket.on('end', () => socket.end())
    socket.write(hostile.bytes, 'latin1', () => hostile.after(socket))
  },
})
const world = await startWorld(t, { routes: ROUTES, target: upstream.url })
const linesOf = (of: string) => world.log().filter(({ path }) => path === of)
t.beforeEach(() => {
  hostile.after = () => {}
  received.length = 0
})

const good = switching(KEY)
const broken: Record<string, string> = {
  'another Accept': good.replace(acceptOf(KEY), acceptOf('AAAAAAAAAAAAAAAAAAAAAA==')),
  'no Accept': good.replace(/Sec-WebSocket-Accept: .*\r\n/, ''),
  'two Accepts': good.replace(/(Sec-WebSocket-Accept: .*\r\n)/, '$1$1'),
  'another protocol': good.replace('Upgrade: websocket', 'Upgrade: h2c'),
  'two protocols': good.replace('Upgrade: websocket', 'Upgrade: websocket, h2c'),
  'no Upgrade': good.replace('Upgrade: websocket\r\n', ''),
  'no Connection': good.replace('Connection: Upgrade\r\n', ''),
  'a subprotocol that was not offered': switching(KEY, ['Sec-WebSocket-Protocol: c']),
  'two subprotocols': switching(KEY, ['Sec-WebSocket-Protocol: a', 'Sec-WebSocket-Protocol: b']),
  'a list of subprotocols': switching(KEY, ['Sec-WebSocket-Protocol: a, b']),
  'an extension that was not offered': switching(KEY, ['Sec-WebSocket-Extensions: x-evil']),
  'no HTTP': 'SSH-2.0-OpenSSH_9.2\r\n',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
}

t.test('an invalid 101 is a 502', async (t) => {
  for (const [name, bytes] of Object.entries(broken)) {
    hostile.bytes = bytes
    const client = await sendHandshake(world.port, '/ws/invalid', OFFERED).gone()
    t.same([client.status, client.code], [502, 'upstream_protocol_error'], name)
    t.same(received, [], `${name}: nothing reached the upstream behind the handshake`)
    t.match(
      linesOf('/ws/invalid').at(-1),
      { status: 502, code: 'upstream_protocol_error', cause: String },
      name,
    )
  }
})

t.test('a disconnect instead of a response is a 502', async (t) => {
  for (const [name, end] of Object.entries({
    closed: (socket: Socket) => socket.end(),
    reset: (socket: Socket) => socket.resetAndDestroy(),
  })) {
    for (const bytes of ['', 'HTTP/1.1 101 Swi']) {
      Object.assign(hostile, { bytes, after: end })
      const client = await sendHandshake(world.port, '/ws/disconnect').gone()
      t.same([client.status, client.code], [502, 'upstream_protocol_error'], `${name} after "${bytes}"`)
    }
  }
})

t.test('any other response passes to the client, complete, and ends the connection', async (t) => {
  const answers: [string, number, RegExp][] = [
    ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody', 200, /\r\n\r\nbody$/],
    [
      'HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 12\r\nContent-Length: 0\r\n\r\n',
      426,
      /sec-websocket-version: 12\r\n/i,
    ],
    [
      'HTTP/1.1 403 Forbidden\r\nX-Why: no\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
      403,
      /X-Why: no\r\n[^]*\r\n3\r\nabc\r\n0\r\n\r\n$/,
    ],
    [
      'HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nok',
      200,
      /\r\n\r\nok$/,
    ],
    [
      'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n',
      401,
      /WWW-Authenticate: Basic/,
    ],
    [
      'HTTP/1.1 302 Found\r\nLocation: /login\r\nSet-Cookie: __Host-seatgate_session=x\r\nContent-Length: 0\r\n\r\n',
      302,
      /Location: \/login/,
    ],
  ]
  for (const [bytes, status, match] of answers) {
    hostile.bytes = bytes
    const client = sendHandshake(world.port, '/ws/other')
    await until(() => client.status !== 0, 'an answer')
    // Written as if a tunnel had begun, and as if the connection continued after the response.
    client.send(fromClient(TEXT, 'frame')).send(smuggled)
    await client.gone()
    t.equal(client.status, status)
    t.match(client.http, match)
    t.match(client.http, /\r\nconnection: close\r\n/i)
    t.notMatch(client.http, /\r\nupgrade:|seatgate_session/i)
    t.same(received, [], `${status}: nothing reached the upstream`)
    await until(() => linesOf('/ws/other').some((line) => line.status === status), 'the line')
    t.match(linesOf('/ws/other').at(-1), { status, code: 'allow' })
  }
})

t.test('a truncated response is cut, not ended', async (t) => {
  hostile.bytes = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'
  const answering = Promise.withResolvers<Socket>()
  hostile.after = answering.resolve
  const client = sendHandshake(world.port, '/ws/truncated')
  await until(() => client.http.includes('abc'), 'the beginning')
  ;(await answering.promise).destroy()
  await client.gone()
  t.equal(client.status, 200)
  t.notMatch(client.http, /\r\n0\r\n/)
})

t.test('bytes after a valid 101 are the first frame', async () => {
  hostile.bytes = good + fromServer(TEXT, 'at once').toString('latin1')
  const client = await sendHandshake(world.port, '/ws/at-once').opened()
  await client.receives('at once')
  client.socket.destroy()
})

t.test('an invalid frame closes it with 1002, after the earlier frames have passed', async (t) => {
  const bad: Record<string, Buffer> = {
    'a mask': fromClient(TEXT, 'masked'),
    'a long ping': Buffer.from([0x89, 126, 0, 126]),
    'a length in a longer form than needed': Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 1]),
  }
  hostile.bytes = good
  let count = 0
  for (const [name, bytes] of Object.entries(bad)) {
    hostile.after = (socket) => socket.write(Buffer.concat([fromServer(TEXT, 'before'), bytes]))
    const client = await sendHandshake(world.port, '/ws/bad-frame').opened()
    await client.receives('before')
    await until(() => client.closeFrame !== undefined, 'Close')
    t.equal(client.closeFrame && codeOf(client.closeFrame), 1002, name)
    client.socket.destroy()
    count++
    await until(() => linesOf('/ws/bad-frame').length === count, 'the line')
    t.match(linesOf('/ws/bad-frame').at(-1), { status: 101, ended_by: 'protocol_error', close_code: 1002 })
  }
})

t.test('an upstream reset inside a frame closes the client connection', async (t) => {
  hostile.bytes = good + '\x82\x7e\x01\x00half a frame'
  const answering = Promise.withResolvers<Socket>()
  hostile.after = answering.resolve
  const client = await sendHandshake(world.port, '/ws/reset').opened()
  await until(() => client.reader.left === 16, 'the partial frame')
  ;(await answering.promise).resetAndDestroy()
  await client.gone()
  t.equal(client.closeFrame, undefined, 'no Close is inserted into a frame')
  await until(() => linesOf('/ws/reset').length === 1, 'the line')
  t.match(linesOf('/ws/reset')[0], { status: 101, ended_by: 'upstream', close_code: 1006, aborted: true })
})
