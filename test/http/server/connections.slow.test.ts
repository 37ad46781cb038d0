/** Too many connections: which one is evicted, and the response to a refused one. */

import t, { type Test } from 'tap'
import { Wire } from '../../proxy/support.ts'
import { startWorld, type World } from '../../support/world.ts'
import { metric, until } from '../../runtime/workers/support.ts'

const GET = 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n'

/** A gateway with 16 connections, whose requests wait for `release`. */
async function startGateway(t: Test) {
  const held: (() => void)[] = []
  const world = await startWorld(t, {
    top: ['limits: { connections: 16 }'],
    routes: ['GET /docs/*: public', 'GET /held: public'],
    answer: (request, response) => {
      const answer = () => response.end('done')
      if (request.url === '/held') held.push(answer)
      else answer()
    },
  })
  const release = () => held.splice(0).forEach((answer) => answer())
  t.teardown(release)
  return { world, held, release }
}

const open = (world: World, count: number) => Array.from({ length: count }, () => new Wire(world.port))
const of = (world: World, state: string) => metric(world, `seatgate_connections{state="${state}"}`)
const evicted = (world: World, state: string) =>
  metric(world, `seatgate_connections_evicted_total{state="${state}"}`)
const refused = (world: World) => metric(world, 'seatgate_connections_refused_total{reason="limit"}')

async function ask(wire: Wire): Promise<string> {
  wire.received = ''
  return wire.send(GET).until('done')
}

t.test('the connection that has been idle longest is evicted', async (t) => {
  const { world } = await startGateway(t)
  const kept = open(world, 16)
  for (const wire of kept) await ask(wire)
  await until(async () => (await of(world, 'idle')) === 16)
  // Used again, so that the second one has been idle longest.
  await ask(kept[0] as Wire)
  t.match(await ask(new Wire(world.port)), /^HTTP\/1\.1 200/)
  t.notMatch(await (kept[1] as Wire).ended, 'HTTP/1.1 408')
  for (const wire of [...kept.slice(0, 1), ...kept.slice(2)]) t.match(await ask(wire), /^HTTP\/1\.1 200/)
  t.equal(await evicted(world, 'idle'), 1)
  t.equal(await refused(world), 0)
})

t.test('all busy: 503 and close at once; later connections are admitted again', async (t) => {
  const { world, held, release } = await startGateway(t)
  const busy = open(world, 16).map((wire) => wire.send('GET /held HTTP/1.1\r\nHost: a\r\n\r\n'))
  await until(() => held.length === 16)
  const answer = await new Wire(world.port).send(GET).ended
  t.match(answer, /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n[\s\S]*\r\nConnection: close\r\n/)
  t.match(answer, '"code":"unavailable"')
  t.equal(await refused(world), 1)
  t.match(
    world.log().find(({ msg }) => String(msg).includes('limits.connections')),
    { level: 'warn' },
  )
  release()
  for (const wire of busy) t.match(await wire.until('done'), /^HTTP\/1\.1 200/)
  t.match(await ask(new Wire(world.port)), /^HTTP\/1\.1 200/)
})

t.test('many refusals at once are logged once', async (t) => {
  const { world, held } = await startGateway(t)
  for (const wire of open(world, 16)) wire.send('GET /held HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => held.length === 16)
  const answers = await Promise.all(open(world, 300).map((wire) => wire.send(GET).ended))
  t.ok(answers.filter((answer) => answer.startsWith('HTTP/1.1 503')).length >= 256)
  t.equal(await refused(world), 300)
  t.equal(world.log().filter(({ msg }) => String(msg).includes('limits.connections')).length, 1)
})

t.test('connections without a request are evicted first', async (t) => {
  const { world } = await startGateway(t)
  const slow = open(world, 100)
  for (const wire of slow.slice(0, 50)) wire.send('GET /docs/a HTTP/1.1\r\nX-')
  await until(() => slow.filter(({ socket }) => socket.destroyed).length >= 84)
  for (let i = 0; i < 20; i++) t.match(await ask(new Wire(world.port)), /^HTTP\/1\.1 200/)
  t.equal(await refused(world), 0)
  t.ok((await evicted(world, 'opening')) >= 84)
})

t.test('a partial next request counts as no request', async (t) => {
  const { world } = await startGateway(t)
  const kept = open(world, 16)
  for (const wire of kept) await ask(wire)
  for (const wire of kept.slice(0, 15)) wire.send('GET /docs/a HTTP/1.1\r\nX-')
  await until(() => kept.slice(0, 15).every(({ socket }) => socket.bytesWritten > GET.length))
  // The last one has been idle longest, though all others were idle before it.
  t.match(await ask(new Wire(world.port)), /^HTTP\/1\.1 200/)
  await (kept[15] as Wire).ended
  t.equal(await evicted(world, 'idle'), 1)
  t.match(await ask(new Wire(world.port)), /^HTTP\/1\.1 200/)
  t.equal(await refused(world), 0)
})

t.test('a closed connection frees its slot', async (t) => {
  const { world, held } = await startGateway(t)
  for (let round = 0; round < 5; round++) {
    const wires = open(world, 16).map((wire) => wire.send('GET /held HTTP/1.1\r\nHost: a\r\n\r\n'))
    await until(() => held.length === 16 * (round + 1))
    for (const { socket } of wires) socket.destroy()
    await until(async () => (await of(world, 'active')) === 0)
  }
  t.equal(await refused(world), 0)
  t.equal((await of(world, 'idle')) + (await of(world, 'opening')), 0)
})

t.test('a client that sends or reads slowly is evicted', async (t) => {
  const big = 'a'.repeat(8 * 1024 * 1024)
  const world = await startWorld(t, {
    top: ['limits: { connections: 16 }'],
    routes: ['GET /docs/*: public', 'GET /big: public', 'POST /open: public'],
    answer: (request, response) => response.end(request.url === '/big' ? big : 'done'),
  })
  const senders = open(world, 8).map((wire) =>
    wire.send('POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\na'),
  )
  const readers = open(world, 8)
  for (const { socket } of readers) {
    socket.pause()
    socket.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n')
  }
  await until(async () => (await of(world, 'active')) === 16)
  t.match(await new Wire(world.port).send(GET).ended, /^HTTP\/1\.1 503/, 'not yet')
  const dribble = setInterval(() => senders.forEach((wire) => wire.send('a')), 500)
  t.teardown(() => clearInterval(dribble))
  const served: Wire[] = []
  await until(async () => {
    const wire = new Wire(world.port)
    const answer = await Promise.race([
      wire
        .send(GET)
        .until('done')
        .catch(() => ''),
      wire.ended,
    ])
    if (answer.startsWith('HTTP/1.1 200')) served.push(wire)
    else wire.socket.destroy()
    return (await evicted(world, 'slow')) >= 8 || served.length >= 8
  })
  t.ok((await evicted(world, 'slow')) > 0 && served.length > 0)
  for (const { socket } of [...readers, ...served]) socket.destroy()
})

t.test('unread responses of the gateway itself are cut as well', async (t) => {
  const world = await startWorld(t, {
    top: ['limits: { body_timeout: 1s }'],
    upstream: ['body_timeout: 1s'],
  })
  const wire = new Wire(world.port)
  wire.socket.pause()
  // One response fits into the system's buffers, but these do not.
  wire.send('GET /none HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(40_000))
  await until(async () => (await of(world, 'active')) === 1)
  await until(async () => (await of(world, 'active')) + (await of(world, 'idle')) === 0)
  t.pass('the connection is closed')
  wire.socket.destroy()
})
