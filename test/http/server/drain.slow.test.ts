/** Drain: requests in flight finish, and no new ones begin. */

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import t from 'tap'
import { Client } from '../../support/client.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import { metric } from '../../support/operations.ts'

async function refuses(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const refused = await once(socket, 'connect').then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  )
  socket.destroy()
  return refused
}

t.test('requests in flight finish, with Connection: close; then the port is closed', async (t) => {
  const held: ServerResponse[] = []
  const world = await startWorld(t, { answer: (_request, response) => void held.push(response) })
  const clients = Array.from({ length: 20 }, () => new Client(world.port))
  const answers = clients.map((client) => client.send('GET', '/docs/a'))
  await until(() => held.length === 20, 'the requests')
  const closed = world.gateway.close(60_000)
  t.equal((await fetch(`${world.ops}/readyz`)).status, 503)
  t.equal((await fetch(`${world.ops}/livez`)).status, 200)
  // The listener stops at once when no client connects.
  await until(() => refuses(world.port), 'the end of the listener')
  for (const response of held) response.end('done')
  for (const answer of await Promise.all(answers))
    t.match(answer, { status: 200, body: 'done', headers: { connection: 'close' } })
  // The end does not wait for the connections.
  await closed
})

t.test('unfinished requests are cut at the end of the drain', async (t) => {
  const world = await startWorld(t, { answer: () => {} })
  const answer = world.client.send('GET', '/docs/a').catch((error: Error) => error)
  await until(() => world.upstream.seen.length === 1, 'the request')
  await world.gateway.close(50)
  t.type(await answer, Error)
})

t.test('an idle connection may send one more request, whose response has Connection: close', async (t) => {
  const world = await startWorld(t)
  const kept = Array.from({ length: 10 }, () => new RawClient(world.port))
  const ask = async (wire: RawClient) => {
    wire.received = ''
    return wire.send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n').until('true}')
  }
  for (const wire of kept) t.notMatch(await ask(wire), /connection: close/i)
  const time = holdTime(t)
  const closed = world.gateway.close(30_000)
  await until(() => refuses(world.port), 'the end of the listener')
  for (const wire of kept.slice(1)) t.match(await ask(wire), /^HTTP\/1\.1 200 [\s\S]*connection: close/i)
  t.equal(kept[0]?.socket.closed, false, 'a connection without a request has its grace period')
  await untilStepped(time, () => kept.every(({ socket }) => socket.closed))
  t.equal(kept[0]?.reset, false, 'a connection without a request is closed, not reset')
  await closed
})

t.test('a connection with a partial request is not idle', async (t) => {
  const world = await startWorld(t)
  const begun = new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\n')
  const kept = new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
  await kept.until('true}')
  kept.send('GET /docs/b HTTP')
  const silent = new RawClient(world.port)
  await until(
    async () => (await metric(world, 'seatgate_connections{state="opening"}')) === 2,
    'the connections that have sent no request',
  )
  const closed = world.gateway.close(30_000)
  // Its grace period is over, and so is that of the connections with the same one.
  await silent.ended
  begun.send('Host: a\r\n\r\n')
  kept.send('/1.1\r\nHost: a\r\n\r\n')
  for (const wire of [begun, kept]) t.match(await wire.ended, /true}[^}]*$/)
  await closed
  t.same(new Set(world.upstream.seen.map(({ url }) => url)), new Set(['/docs/a', '/docs/b']))
})

t.test('a response that is written but unread is not cut', async (t) => {
  const size = 8 * 1024 * 1024
  const world = await startWorld(t, { answer: (_request, response) => response.end(Buffer.alloc(size, 'a')) })
  const wire = new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
  await wire.until('aaa')
  wire.socket.pause()
  const closed = world.gateway.close(30_000)
  await until(() => refuses(world.port), 'the end of the listener')
  wire.socket.resume()
  t.ok((await wire.ended).length > size)
  await closed
})

t.test('requests that are cut at the end are logged', async (t) => {
  const world = await startWorld(t, { answer: () => {} })
  const wires = Array.from({ length: 5 }, () =>
    new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n'),
  )
  await until(() => world.upstream.seen.length === 5, 'the requests')
  await world.gateway.close(100)
  t.equal(world.log().filter(({ msg, path }) => msg === 'request' && path === '/docs/a').length, 5)
  for (const { socket } of wires) socket.destroy()
})
