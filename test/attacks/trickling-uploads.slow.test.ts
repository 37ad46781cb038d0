/**
 * Uploads of one token, each as slow as permitted, took all connections for bodies to an upstream: 512 of them, 5.9
 * Mbit/s in all, blocked all other uploads for two hours. Now the caller with the most connections loses one first.
 */

import t, { type Test } from 'tap'
import { codeOf } from '../proxy/support.ts'
import { Client } from '../support/client.ts'
import { startWorld, type World } from '../support/world.ts'
import { until } from '../support/until.ts'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { RawClient } from '../support/raw-client.ts'
import { metric } from '../support/operations.ts'

const ROUTES = [
  'POST /v1/trainings: trainings:create',
  'GET /v1/trainings: trainings:create',
  'POST /open: public',
]
/** Bytes that each of the attacker's uploads sends at a time, and milliseconds between two: more than 1 KiB/s. */
const DRIP = Buffer.alloc(720, 'a')
const TICK = 500

async function uploader(world: World, sub: string, tenant: string): Promise<Record<string, string>> {
  const token = await world.token(['s1:Uploader'], { sub, tenant })
  return { authorization: `Bearer ${token}`, space: 's1' }
}

/** Nothing but an eviction ends an upload. */
const PATIENT = ['response_timeout: 10m', 'body_timeout: 10m']

async function startUploads(t: Test, upstream: readonly string[] = []): Promise<World> {
  const world = await startWorld(t, { routes: ROUTES, upstream: [...PATIENT, ...upstream] })
  for (const tenant of ['acme', 'globex']) await world.seat('Uploader', ['s1'], ['trainings:create'], tenant)
  return world
}

/** As many uploads as `count`, all of which trickle until the test ends. */
async function trickle(
  t: Test,
  world: World,
  count: number,
  path: string,
  headers: object,
): Promise<RawClient[]> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}Content-Length: 10000000\r\n\r\n`
  const wires = Array.from({ length: count }, () => new RawClient(world.port).send(head))
  const drip = () => {
    for (const { socket } of wires) if (socket.writable) socket.write(DRIP)
  }
  drip()
  const timer = setInterval(drip, TICK)
  t.teardown(() => {
    clearInterval(timer)
    for (const { socket } of wires) socket.destroy()
  })
  return wires
}

async function inFlight(world: World, count: number): Promise<void> {
  let found = 0
  const isCount = async () => (found = await metric(world, 'seatgate_requests_in_flight')) === count
  await until(isCount, () => `${found} requests are in flight, and not ${count}`)
}

/** A legitimate upload on a connection of its own; its status. */
async function upload(
  world: World,
  headers: Record<string, string>,
  body: string | Buffer,
  path = '/v1/trainings',
) {
  const client = new Client(world.port)
  const answer = await client.send('POST', path, headers, body)
  client.close()
  return answer.status === 200 ? 200 : `${answer.status} ${answer.json.code}`
}

/** Header section first, and the body in two pieces some milliseconds later, as most programs send it. */
async function inPieces(world: World, headers: Record<string, string>): Promise<string> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const wire = new RawClient(world.port)
  wire.send(
    `POST /v1/trainings HTTP/1.1\r\nHost: a\r\n${lines.join('')}Content-Length: 4\r\nConnection: close\r\n\r\n`,
  )
  for (const part of ['ab', 'cd']) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    wire.send(part)
  }
  return (await wire.ended).slice(9, 12)
}

const LARGE = Buffer.alloc(3 * 1024 * 1024, 'b')

t.test('all others are served', async (t) => {
  const world = await startUploads(t)
  const attacker = await uploader(world, 'mallory', 'acme')
  const wires = await trickle(t, world, 600, '/v1/trainings', attacker)
  // All connections are in use: further ones are refused.
  const refused = () => wires.filter(({ received }) => received.includes(' 503 ')).length
  await until(
    () => refused() >= 600 - 512,
    () => `${refused()} are refused`,
  )
  for (const [sub, tenant] of [
    ['bob', 'acme'],
    ['carol', 'globex'],
  ] as const) {
    const headers = await uploader(world, sub, tenant)
    t.equal(await upload(world, headers, '{}'), 200, `${tenant}: small, in one piece`)
    t.equal(await inPieces(world, headers), '200', `${tenant}: small, in pieces`)
    t.equal(await upload(world, headers, LARGE), 200, `${tenant}: large`)
    const many = await Promise.all(Array.from({ length: 8 }, () => upload(world, headers, LARGE)))
    t.same(new Set(many), new Set([200]), `${tenant}: many at once`)
  }
  t.equal(await upload(world, {}, LARGE, '/open'), 200, 'without a credential')
  t.equal(await upload(world, attacker, '{}'), 200, 'the same token, small')
  const lost = wires.filter(({ received }) => received.includes('HTTP/1.1'))
  t.same(new Set(lost.map(({ received }) => codeOf(received))), new Set(['unavailable']))
  t.ok(lost.every(({ received }) => /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n/.test(received)))
  t.ok(wires.length - lost.length > 256, "most of the attacker's uploads stay")
})

t.test('a connection in use is taken away, and closed at the upstream', async (t) => {
  const world = await startUploads(t, ['connections: 8', 'eviction_delay: 100ms'])
  const wires = await trickle(t, world, 4, '/v1/trainings', await uploader(world, 'mallory', 'acme'))
  await inFlight(world, 4)
  t.equal(await upload(world, await uploader(world, 'carol', 'globex'), LARGE), 200)
  const [lost, ...more] = wires.filter(({ received }) => received !== '')
  t.match(lost?.received, /slowest request was ended/)
  t.same(more, [], 'one for one')
  t.equal(
    world.upstream.seen.filter(({ body }) => body.startsWith('a')).length,
    0,
    'none of them is complete',
  )
})

t.test('uploads whose clients have left end no others', async (t) => {
  const world = await startUploads(t, ['connections: 16', 'eviction_delay: 1s'])
  const time = holdTime(t)
  const wires = await trickle(t, world, 8, '/v1/trainings', await uploader(world, 'alice', 'acme'))
  await inFlight(world, 8)
  const attacker = await uploader(world, 'mallory', 'globex')
  const heads = await trickle(t, world, 4, '/v1/trainings', attacker)
  await inFlight(world, 12)
  // Decided after those, with the same credential: they are in the queue by now.
  t.equal(await upload(world, attacker, '{}'), 200)
  for (const { socket } of heads) socket.resetAndDestroy()
  await inFlight(world, 8)
  let status: unknown
  void upload(world, await uploader(world, 'carol', 'globex'), LARGE).then((given) => (status = given))
  await untilStepped(time, () => status !== undefined)
  t.equal(status, 200)
  // Carol has waited as long as those would have, had they stayed.
  t.equal(wires.filter(({ received }) => received !== '').length, 1, 'one, for one that is alive')
})

t.test('callers with equal numbers of connections wait for one another', async (t) => {
  const world = await startUploads(t, ['connections: 4', 'eviction_delay: 50ms'])
  const time = holdTime(t)
  const one = await trickle(t, world, 1, '/v1/trainings', await uploader(world, 'alice', 'acme'))
  const other = await trickle(t, world, 1, '/v1/trainings', await uploader(world, 'bob', 'acme'))
  await inFlight(world, 2)
  const carol = await uploader(world, 'carol', 'acme')
  const waiting = upload(world, carol, LARGE)
  await inFlight(world, 3)
  // Decided after the upload, which is in the queue by now.
  t.equal(await upload(world, carol, '{}'), 200)
  for (let i = 0; i < 10; i++) time.pass(50)
  // What the gateway has written before is read by then.
  t.equal(await upload(world, carol, '{}'), 200)
  t.same(
    [...one, ...other].map(({ received }) => received),
    ['', ''],
    'neither has lost a connection',
  )
  one[0]?.socket.destroy()
  t.equal(await waiting, 200, 'the waiting upload gets the next one')
})

t.test('a response that is read slowly is evicted too', async (t) => {
  const world = await startWorld(t, {
    routes: ROUTES,
    upstream: ['connections: 4', 'max_pending: 6', 'eviction_delay: 100ms'],
    answer: (request, response) => response.end(request.method === 'GET' ? Buffer.alloc(30_000_000) : 'ok'),
  })
  for (const tenant of ['acme', 'globex']) await world.seat('Uploader', ['s1'], ['trainings:create'], tenant)
  const lines = Object.entries(await uploader(world, 'mallory', 'acme')).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  const readers = Array.from({ length: 6 }, () => new RawClient(world.port))
  t.teardown(() => readers.forEach(({ socket }) => socket.destroy()))
  for (const { socket } of readers) {
    socket.pause()
    socket.write(`GET /v1/trainings HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`)
  }
  await until(() => world.upstream.seen.length === 4, 'four responses')
  const carol = await uploader(world, 'carol', 'globex')
  for (let i = 0; i < 5; i++) t.equal(await upload(world, carol, '{}'), 200)
})
