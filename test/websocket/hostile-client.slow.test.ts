/** Attacks of a client: smuggling past a handshake, or harming the other end. */

import t, { type Test } from 'tap'
import { standstill } from '../proxy/support.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { codeOf, fromClient, fromServer, header, TEXT } from './frames.ts'
import {
  handshake,
  WebSocketClient,
  sendHandshake,
  startWebSocketUpstream,
  type UpstreamBehaviour,
} from './support.ts'

const ROUTES = ['GET /ws/*: public', 'GET /secret: trainings:list', 'GET /slow: public']

async function setUp(t: Test, behaviour: UpstreamBehaviour = {}) {
  const upstream = await startWebSocketUpstream(t, behaviour)
  const world = await startWorld(t, { routes: ROUTES, target: upstream.url })
  return { world, upstream }
}

const echoing = await setUp(t)
const silent = await setUp(t, { silent: true })
t.beforeEach(() => {
  for (const { upstream } of [echoing, silent]) upstream.sockets.length = 0
  echoing.upstream.requests.length = 0
})

const hidden = 'GET /ws/hidden HTTP/1.1\r\nHost: a\r\n\r\n'

t.test('bytes after a handshake never become a request, refused or not', async (t) => {
  const { world, upstream } = echoing
  for (const path of ['/ws/a', '/secret', '/nowhere', '/ws%2f']) {
    for (const behind of [hidden, handshake('/ws/hidden'), fromClient(TEXT, 'early').toString('latin1')]) {
      const client = await new WebSocketClient(world.port).send(handshake(path) + behind).gone()
      t.same([client.status, client.code], [400, 'request_malformed'], path)
      t.equal(client.http.split('HTTP/1.1').length, 2, 'one response')
    }
  }
  t.equal(upstream.requests.length + upstream.sockets.length, 0)
})

t.test('bytes before its response are not a request either', async (t) => {
  let handshakes = 0
  let gone = 0
  const received: string[] = []
  const { world } = await setUp(t, {
    answer: (_request, socket) => {
      handshakes++
      socket.on('end', () => socket.end()).on('close', () => gone++)
      socket.on('data', (chunk) => received.push(chunk.toString('latin1')))
    },
  })
  const client = sendHandshake(world.port, '/ws/waits')
  await until(() => handshakes === 1, 'the handshake')
  client.send(hidden)
  await client.gone()
  t.same([client.status, client.code], [400, 'request_malformed'])
  await until(() => gone === 1, 'the end at the upstream')
  t.same(received, [])
})

t.test('a handshake behind a pending request waits for its response', async (t) => {
  const { world, upstream } = echoing
  const first = 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'
  const client = new WebSocketClient(world.port).send(first + handshake('/ws/behind'))
  await until(() => client.http.includes('101 Switching'), 'the tunnel')
  const answers = client.http.split('HTTP/1.1 ').slice(1)
  t.equal(answers.length, 2)
  t.match(answers[0], /^200 [\s\S]*plain$/)
  t.equal(upstream.sockets.length, 1)
  client.socket.destroy()
})

t.test('a handshake behind an answered request is accepted', async () => {
  const { world } = echoing
  const client = new WebSocketClient(world.port).send('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => client.http.endsWith('plain'), 'the answer')
  client.received = ''
  client.send(handshake('/ws/kept'))
  await client.opened()
  client.sendText('kept')
  await client.receives('kept')
  client.socket.destroy()
})

t.test('HTTP in the tunnel is an invalid frame and is dropped', async (t) => {
  const { world, upstream } = echoing
  const client = await sendHandshake(world.port, '/ws/http').opened()
  client.sendText('first').send(hidden)
  await client.gone()
  const [socket] = upstream.sockets
  await until(() => socket?.closed === true, 'the end at the upstream')
  t.same(socket?.texts, ['first'])
  t.equal(socket?.reader.left, 0)
  t.equal(socket?.closeFrame && codeOf(socket.closeFrame), 1002)
  t.equal(client.closeFrame && codeOf(client.closeFrame), 1002)
  await until(() => world.log().some(({ path }) => path === '/ws/http'), 'the line')
  t.match(
    world.log().find(({ path }) => path === '/ws/http'),
    { ended_by: 'protocol_error', close_code: 1002 },
  )
})

t.test('a frame of any size passes at the pace of the slower end, in bounded memory', async (t) => {
  const { world, upstream } = silent
  const client = await sendHandshake(world.port, '/ws/big').opened()
  await until(() => upstream.sockets.length === 1, 'the socket')
  const socket = upstream.sockets[0]?.socket
  socket?.removeAllListeners('data').pause()
  const size = 32 * 1024 * 1024
  client.send(header(2, size, true)).send(Buffer.from([0, 0, 0, 0]))
  const piece = Buffer.alloc(1024 * 1024, 7)
  for (let i = 0; i < size / piece.length; i++) client.send(piece)
  // Nothing is read there, so that backpressure stops the client early.
  await standstill(() => client.socket.writableLength)
  t.ok(client.socket.writableLength > size / 2, 'most of it is still with the client')
  let received = 0
  socket
    ?.on('data', (chunk) => {
      received += chunk.length
    })
    .resume()
  await until(() => received >= size + 14, 'all of it')
  client.socket.destroy()
})

t.test('the same in the other direction', async (t) => {
  const { world, upstream } = silent
  const client = await sendHandshake(world.port, '/ws/back').opened()
  await until(() => upstream.sockets.length === 1, 'the socket')
  client.socket.removeAllListeners('data').pause()
  const socket = upstream.sockets[0]?.socket ?? client.socket
  const size = 32 * 1024 * 1024
  socket.write(header(2, size, false))
  const piece = Buffer.alloc(1024 * 1024, 7)
  for (let i = 0; i < size / piece.length; i++) socket.write(piece)
  await standstill(() => socket.writableLength)
  t.ok(socket.writableLength > size / 2, 'most of it is still with the upstream')
  let received = 0
  client.socket
    .on('data', (chunk) => {
      received += chunk.length
    })
    .resume()
  await until(() => received >= size + 10, 'all of it')
  client.socket.destroy()
})

t.test('a client reset closes the upstream connection, also inside a frame', async (t) => {
  const { world, upstream } = echoing
  for (const bytes of ['', fromClient(TEXT, 'half of it').subarray(0, 8)]) {
    const client = await sendHandshake(world.port, '/ws/reset').opened()
    client.sendText('whole')
    await client.receives('whole')
    client.send(bytes)
    await new Promise((resolve) => client.socket.write('', resolve))
    client.socket.resetAndDestroy()
    await until(() => upstream.sockets.at(-1)?.closed === true, 'the end at the upstream')
    t.equal(upstream.sockets.at(-1)?.closeFrame, undefined)
  }
  await until(() => world.log().filter(({ path }) => path === '/ws/reset').length === 2, 'the lines')
  for (const line of world.log().filter(({ path }) => path === '/ws/reset'))
    t.match(line, { status: 101, ended_by: 'client', close_code: 1006, aborted: true })
})

t.test("half-closed: the client's data arrives, and so does the upstream's reply", async (t) => {
  const { world, upstream } = silent
  const client = await sendHandshake(world.port, '/ws/half').opened()
  client.sendText('last words')
  client.socket.end()
  const [socket] = upstream.sockets
  await until(() => socket?.finished === true, 'the end of its side')
  t.same(socket?.texts, ['last words'])
  socket?.socket.end(fromServer(TEXT, 'the answer'))
  await client.receives('the answer')
  await client.gone()
})

t.test('bytes after the Close of the client are dropped', async (t) => {
  const { world, upstream } = silent
  const client = await sendHandshake(world.port, '/ws/after').opened()
  client.send(Buffer.concat([fromClient(8, Buffer.from([3, 0xe8])), fromClient(TEXT, 'after')]))
  await until(() => upstream.sockets[0]?.closeFrame !== undefined, 'Close')
  client.sendText('later still')
  upstream.sockets[0]?.socket.end(fromServer(8, Buffer.from([3, 0xe8])))
  await client.gone()
  t.same(upstream.sockets[0]?.texts, [])
  await until(() => world.log().some(({ path }) => path === '/ws/after'), 'the line')
  t.match(
    world.log().find(({ path }) => path === '/ws/after'),
    { ended_by: 'client', close_code: 1000 },
  )
})
