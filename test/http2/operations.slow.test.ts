/** HTTP/2 while the gateway drains, reloads and balances: no request is lost. */

import { readFileSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import t from 'tap'
import { GOAWAY } from '../../src/http/wire/http2/http2-frames.ts'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { GET, type Fields } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'
import { fromClient, TEXT } from '../websocket/frames.ts'
import { KEY, startWebSocketUpstream } from '../websocket/support.ts'
import { answerOf, ask, authority, openRaw, openSession, startSecured } from './support.ts'

t.test(
  'a drain: GOAWAY, requests in flight end whole, and later ones are served or refused unread',
  async (t) => {
    const held = Promise.withResolvers<() => void>()
    const world = await startSecured(t, {
      answer: (request, response) => {
        if (request.url !== '/docs/held') return void response.end('ok')
        response.write('first ')
        held.resolve(() => response.end('last'))
      },
    })
    const session = openSession(t, world.securePort)
    const answer = answerOf(session.request({ ':path': '/docs/held' }))
    const finish = await held.promise
    const goAway = new Promise<unknown[]>((resolve) => session.once('goaway', (...all) => resolve(all)))
    const closed = new Promise((resolve) => session.once('close', resolve))
    const drained = world.gateway.close(20_000)
    t.equal((await goAway)[0], 0)
    finish()
    t.match(await answer, { status: 200, body: 'first last', code: 0 })
    await Promise.all([closed, drained])
  },
)

t.test('a drain under load loses no request', async (t) => {
  const world = await startSecured(t)
  const failures: string[] = []
  let answered = 0
  const load = async (session: ClientHttp2Session) => {
    let ended = false
    session.on('goaway', () => (ended = true)).on('close', () => (ended = true))
    while (!ended)
      await ask(session, { ':path': '/docs/a' }).then(
        ({ status }) => (status === 200 ? answered++ : failures.push(String(status))),
        // A stream above the last of GOAWAY was not processed, and may be sent again.
        (cause: Error) => ended || failures.push(cause.message),
      )
  }
  const sessions = Array.from({ length: 4 }, () => openSession(t, world.securePort))
  const loads = sessions.flatMap((session) => Array.from({ length: 8 }, () => load(session)))
  await until(() => answered > 500, '500 responses')
  await Promise.all([world.gateway.close(20_000), ...loads])
  t.same(failures, [])
  t.equal(world.upstream.seen.length, answered, 'each request that the upstream got was answered')
})

t.test('an idle connection ends with GOAWAY', async (t) => {
  const world = await startSecured(t, { top: ['limits: { idle_timeout: 1s }'] })
  const time = holdTime(t)
  const client = await openRaw(t, world.securePort)
  t.equal(await client.headers(1, path('/docs/a')).status(1), 200)
  const ended = client.next(({ type }) => type === GOAWAY)
  await untilStepped(time, () => client.ended)
  const { payload } = await ended
  t.same([payload.readUInt32BE(0), payload.readUInt32BE(4)], [1, 0])
  t.notOk(world.log().some(({ msg }) => String(msg).includes('HTTP/2')))
})

const path = (text: string, more: Fields = []): Fields => [
  ...GET.map(([name, value]) => [name, name === ':path' ? text : value] as const),
  ...more,
]

t.test('a reload: connections go on, and new ones have the new limits', async (t) => {
  const limits = (bytes: string) => `limits: { header_bytes: ${bytes}, target_bytes: 1KiB }`
  const world = await startSecured(t, { top: [limits('16KiB')] })
  const long = path('/docs/a', [['x-long', 'x'.repeat(6000)]])
  const before = await openRaw(t, world.securePort)
  t.equal(await before.headers(1, long).status(1), 200)
  const file = join(world.folder, 'gateway.config.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace(limits('16KiB'), limits('4KiB')))
  await world.reload()
  const after = await openRaw(t, world.securePort)
  t.equal(await after.headers(1, long).status(1), 431)
  t.equal(await before.headers(3, long).status(3), 200)
})

t.test('PROXY protocol before TLS', async (t) => {
  const world = await startSecured(t, { top: ['trusted_proxies: [127.0.0.0/8]', 'proxy_protocol: true'] })
  const socket = connect(world.securePort, '127.0.0.1')
  socket.write('PROXY TCP4 203.0.113.7 127.0.0.1 1234 443\r\n')
  const secured = connectTls({ socket, ca: authority.cert, servername: 'a.example', ALPNProtocols: ['h2'] })
  await once(secured, 'secureConnect')
  const session = connectHttp2('https://a.example', { createConnection: () => secured })
  t.teardown(() => session.destroy())
  t.equal((await ask(session, { ':path': '/docs/a' })).status, 200)
  const headers = world.upstream.seen[0]?.headers
  t.match(headers, { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' })
})

t.test('several workers', async (t) => {
  const world = await startSecured(t, { top: ['workers: 2'] })
  const answers = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const session = openSession(t, world.securePort)
      return Promise.all(Array.from({ length: 20 }, () => ask(session, { ':path': '/docs/a' })))
    }),
  )
  t.ok(answers.flat().every(({ status }) => status === 200))
  t.equal(world.upstream.seen.length, 160)
})

t.test('WebSockets over TLS on the same listener', async (t) => {
  const upstream = await startWebSocketUpstream(t)
  const world = await startSecured(t, {
    routes: ['GET /ws: public', 'GET /docs/*: public'],
    target: upstream.url,
  })
  const socket = connectTls({
    port: world.securePort,
    host: '127.0.0.1',
    ca: authority.cert,
    servername: 'a.example',
    ALPNProtocols: ['http/1.1'],
  })
  t.teardown(() => socket.destroy())
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])))
  socket.write(
    `GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`,
  )
  await until(() => received.includes('\r\n\r\n'), 'the response to the handshake')
  t.match(received.toString('latin1'), /^HTTP\/1\.1 101 /)
  socket.write(fromClient(TEXT, Buffer.from('hello')))
  await until(() => received.includes('hello'), 'the echo')
  t.equal((await ask(openSession(t, world.securePort), { ':path': '/nowhere' })).status, 404)
})
