/**
 * 256 event streams of one caller took all connections to an upstream, and 800 took all streams of HTTP/2: each request of all
 * others was 504 after 33 s, for as long as they stayed. Now those of the caller with the most end, cleanly.
 */

import { once } from 'node:events'
import { createServer as createServer2 } from 'node:http2'
import type { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { openSession, startSecured } from '../http2/support.ts'
import { Client } from '../support/client.ts'
import { listen } from '../support/listen.ts'
import { metric } from '../support/operations.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const ROUTES = ['GET /v1/*: trainings:list', 'GET /open/*: public']
const EVENT = 'data: 1\n\n'

/** Paths that end in `events`, `download` and others. */
function answer(url: string, response: Writable & { setHeader(name: string, value: string): unknown }): void {
  if (url.endsWith('/events')) response.setHeader('content-type', 'text/event-stream')
  else if (!url.endsWith('/download')) return void response.end('ok')
  response.write(EVENT)
}

const headersOf = async (world: World, sub: string, tenant: string) => ({
  authorization: `Bearer ${await world.token(['s1:Reader'], { sub, tenant })}`,
  space: 's1',
})

const textOf = (path: string, headers: object) =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

async function startReaders(t: Test, upstream: readonly string[], target?: string): Promise<World> {
  const world = await startWorld(t, {
    routes: ROUTES,
    upstream,
    answer: ({ url = '' }, response) => answer(url, response),
    ...(target === undefined ? {} : { target }),
  })
  for (const tenant of ['acme', 'globex']) await world.seat('Reader', ['s1'], ['trainings:list'], tenant)
  return world
}

/** Opened by one caller, and reopened as they end. */
async function hold(t: Test, world: World, count: number, text: string): Promise<RawClient[]> {
  const opened: RawClient[] = []
  let stopped = false
  const open = () => {
    if (stopped) return
    const wire = new RawClient(world.port).send(text)
    opened.push(wire)
    void wire.until('\r\n0\r\n\r\n').then(open, open)
  }
  t.teardown(() => {
    stopped = true
    for (const { socket } of opened) socket.destroy()
  })
  for (let at = 0; at < count; at++) open()
  await until(async () => (await metric(world, 'seatgate_requests_in_flight')) >= count, 'all in flight')
  return opened
}

const begun = (wires: readonly RawClient[]) => wires.filter(({ received }) => received.includes(EVENT))
const isClean = ({ received }: RawClient) => received.endsWith('\r\n0\r\n\r\n')

async function othersAreServed(
  t: Test,
  world: World,
  wires: readonly RawClient[],
  { slots, isPublic }: { slots: number; isPublic: boolean },
) {
  const others = [
    ['/v1/short', await headersOf(world, 'carol', 'globex')],
    ['/v1/short', await headersOf(world, 'bob', 'acme')],
    // Of the same client, where the attacker asks without a credential.
    ...(isPublic ? [] : ([['/open/short', {}]] as const)),
  ] as const
  for (let i = 0; i < 10; i++)
    for (const [path, headers] of others) {
      const client = new Client(world.port)
      t.equal((await client.send('GET', path, headers)).status, 200)
      client.close()
    }
  const ended = begun(wires).filter((wire) => wire.socket.destroyed || isClean(wire))
  t.ok(ended.length > 0, 'some are ended')
  t.ok(ended.every(isClean), 'with their last chunk')
  const open = begun(wires).length - ended.length
  t.ok(open >= slots * 0.75, `${open} stay`)
}

t.test('all connections of HTTP/1.1', async (t) => {
  const world = await startReaders(t, ['connections: 64', 'eviction_delay: 100ms'])
  const mallory = await headersOf(world, 'mallory', 'acme')
  const wires = await hold(t, world, 80, textOf('/v1/events', mallory))
  await until(() => begun(wires).length >= 64, 'all connections in use')
  await othersAreServed(t, world, wires, { slots: 64, isPublic: false })
})

t.test('all streams of HTTP/2, on a public route', async (t) => {
  const server = createServer2((request, response) => answer(request.url, response))
  const target = `http://127.0.0.1:${await listen(t, server)}`
  const world = await startReaders(t, ['protocol: h2c', 'connections: 2', 'eviction_delay: 100ms'], target)
  const wires = await hold(t, world, 240, textOf('/open/events', {}))
  await until(() => begun(wires).length >= 200, 'all streams in use')
  await othersAreServed(t, world, wires, { slots: 200, isPublic: true })
})

t.test('a response that is no stream of events does not look complete', async (t) => {
  const world = await startReaders(t, ['connections: 8', 'eviction_delay: 100ms'])
  const mallory = await headersOf(world, 'mallory', 'acme')
  const wires = Array.from({ length: 8 }, () =>
    new RawClient(world.port).send(textOf('/v1/download', mallory)),
  )
  t.teardown(() => wires.forEach((wire) => wire.close()))
  await Promise.all(wires.map((wire) => wire.until(EVENT)))
  const carol = await headersOf(world, 'carol', 'globex')
  t.equal((await world.client.send('GET', '/v1/short', carol)).status, 200)
  await until(() => wires.some(({ socket }) => socket.destroyed), 'the end of one')
  t.notOk(wires.some(isClean))
})

t.test('a client of HTTP/2 sees the end of its stream of events too', async (t) => {
  const world = await startSecured(t, {
    routes: ROUTES,
    upstream: ['connections: 4', 'eviction_delay: 100ms'],
    answer: ({ url = '' }, response) => answer(url, response),
  })
  await world.seat('Reader', ['s1'], ['trainings:list'])
  const session = openSession(t, world.securePort)
  let ended = 0
  const streams = Array.from({ length: 4 }, () => session.request({ ':path': '/open/events' }))
  for (const stream of streams) stream.on('end', () => ended++).resume()
  await Promise.all(streams.map((stream) => once(stream, 'response')))
  const bob = await headersOf(world, 'bob', 'acme')
  t.equal((await world.client.send('GET', '/v1/short', bob)).status, 200)
  await until(() => ended > 0, 'the end of one')
  t.ok(streams.every(({ rstCode }) => !rstCode))
})
