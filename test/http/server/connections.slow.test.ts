/** Too many connections: which one is evicted, and the response to a refused one. */

import t from 'tap'
import { holdTime } from '../../support/held-time.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import { metricsOf } from '../../support/operations.ts'

const GET = 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n'
const HELD = 'GET /held HTTP/1.1\r\nHost: a\r\n\r\n'

const HOUR = 3_600_000
/** Connections of which the gateway accepts no more. */
const LIMIT = 16
/** Requests for /held that wait for `release`. */
const held: (() => void)[] = []
const big = 'a'.repeat(8 * 1024 * 1024)
const world = await startWorld(t, {
  top: [`limits: { connections: ${LIMIT} }`],
  routes: ['GET /docs/*: public', 'GET /held: public', 'GET /big: public', 'POST /open: public'],
  answer: (request, response) => {
    const answer = () => response.end(request.url === '/big' ? big : 'done')
    if (request.url === '/held') held.push(answer)
    else answer()
  },
})
const release = () => held.splice(0).forEach((answer) => answer())
/** Of the current test. */
let clients: RawClient[] = []
let before: Awaited<ReturnType<typeof counts>>
t.beforeEach(async () => {
  before = await counts()
})
t.afterEach(async () => {
  release()
  for (const client of clients.splice(0)) client.close()
  await until(hasNone, 'the end of the connections')
})

function connect(count: number): RawClient[] {
  const made = Array.from({ length: count }, () => new RawClient(world.port))
  clients.push(...made)
  return made
}

function connectOne(): RawClient {
  const client = new RawClient(world.port)
  clients.push(client)
  return client
}

/** Connections by their state, and those that were evicted from it or refused. */
async function counts({ ops } = world) {
  const text = await metricsOf({ ops })
  const count = (series: string) =>
    Number(text.match(new RegExp(`^seatgate_connections${series} (\\d+)$`, 'm'))?.[1])
  return {
    opening: count('{state="opening"}'),
    active: count('{state="active"}'),
    idle: count('{state="idle"}'),
    'evicted: opening': count('_evicted_total{state="opening"}'),
    'evicted: idle': count('_evicted_total{state="idle"}'),
    'evicted: slow': count('_evicted_total{state="slow"}'),
    refused: count('_refused_total{reason="limit"}'),
  }
}

async function hasNone(of = world): Promise<boolean> {
  const { opening, active, idle } = await counts(of)
  return opening + active + idle === 0
}

type Count = keyof typeof before

/** By how much it has grown in this test. */
const grown = async (what: Count) => (await counts())[what] - before[what]

async function ask(wire: RawClient): Promise<string> {
  wire.received = ''
  return wire.send(GET).until('done')
}

t.test('the connection that has been idle longest is evicted', async (t) => {
  const kept = connect(16)
  for (const wire of kept) await ask(wire)
  await until(async () => (await counts()).idle === LIMIT, 'idle connections')
  // Used again, so that the second one has been idle longest.
  await ask(kept[0] as RawClient)
  t.match(await ask(connectOne()), /^HTTP\/1\.1 200/)
  t.notMatch(await (kept[1] as RawClient).ended, 'HTTP/1.1 408')
  for (const wire of [...kept.slice(0, 1), ...kept.slice(2)]) t.match(await ask(wire), /^HTTP\/1\.1 200/)
  t.equal(await grown('evicted: idle'), 1)
  t.equal(await grown('refused'), 0)
})

t.test('all busy: 503 and close at once; later connections are admitted again', async (t) => {
  const busy = connect(16).map((wire) => wire.send(HELD))
  await until(() => held.length === LIMIT, 'the requests')
  const answer = await connectOne().send(GET).ended
  t.match(answer, /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n[\s\S]*\r\nConnection: close\r\n/)
  t.match(answer, '"code":"unavailable"')
  t.equal(await grown('refused'), 1)
  t.match(
    world.log().find(({ msg }) => String(msg).includes('limits.connections')),
    { level: 'warn' },
  )
  release()
  for (const wire of busy) t.match(await wire.until('done'), /^HTTP\/1\.1 200/)
  t.match(await ask(connectOne()), /^HTTP\/1\.1 200/)
})

t.test('many refusals at once are logged once', async (t) => {
  // Further than the line of an earlier test keeps the next one back.
  holdTime(t).pass(HOUR)
  const lines = () => world.log().filter(({ msg }) => String(msg).includes('limits.connections')).length
  const linesBefore = lines()
  for (const wire of connect(16)) wire.send(HELD)
  await until(() => held.length === LIMIT, 'the requests')
  const answers = await Promise.all(connect(300).map((wire) => wire.send(GET).ended))
  t.ok(answers.filter((answer) => answer.startsWith('HTTP/1.1 503')).length >= 256)
  t.equal(await grown('refused'), 300)
  t.equal(lines() - linesBefore, 1)
})

t.test('connections without a request are evicted first', async (t) => {
  const slow = connect(100)
  for (const wire of slow.slice(0, 50)) wire.send('GET /docs/a HTTP/1.1\r\nX-')
  await until(() => slow.filter(({ socket }) => socket.destroyed).length >= 84, 'the evictions')
  for (let i = 0; i < 20; i++) t.match(await ask(connectOne()), /^HTTP\/1\.1 200/)
  t.equal(await grown('refused'), 0)
  t.ok((await grown('evicted: opening')) >= 84)
})

t.test('a partial next request counts as no request', async (t) => {
  const kept = connect(16)
  for (const wire of kept) await ask(wire)
  for (const wire of kept.slice(0, 15)) wire.send('GET /docs/a HTTP/1.1\r\nX-')
  await until(
    () => kept.slice(0, 15).every(({ socket }) => socket.bytesWritten > GET.length),
    'the partial requests',
  )
  // The last one has been idle longest, though all others were idle before it.
  t.match(await ask(connectOne()), /^HTTP\/1\.1 200/)
  await (kept[15] as RawClient).ended
  t.equal(await grown('evicted: idle'), 1)
  t.match(await ask(connectOne()), /^HTTP\/1\.1 200/)
  t.equal(await grown('refused'), 0)
})

t.test('a closed connection frees its slot', async (t) => {
  for (let round = 0; round < 3; round++) {
    const wires = connect(16).map((wire) => wire.send(HELD))
    await until(() => held.length === LIMIT, 'the requests')
    for (const { socket } of wires) socket.destroy()
    await until(async () => (await counts()).active === 0, 'the end of the connections')
    held.length = 0
  }
  t.equal(await grown('refused'), 0)
  t.ok(await hasNone())
})

t.test('a client that sends or reads slowly is evicted', async (t) => {
  const time = holdTime(t)
  const senders = connect(8)
  for (const client of senders) client.send('POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\na')
  for (const { socket } of connect(8)) {
    socket.pause()
    socket.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n')
  }
  await until(async () => (await counts()).active === LIMIT, 'active connections')
  t.match(await connectOne().send(GET).ended, /^HTTP\/1\.1 503/, 'not yet')
  const dribble = setInterval(
    () => senders.forEach(({ socket }) => socket.writable && socket.write('a')),
    500,
  )
  t.teardown(() => clearInterval(dribble))
  await until(async () => {
    time.pass(1000)
    const client = connectOne().send(HELD)
    const before = held.length
    await until(() => client.finished || held.length > before, 'an answer')
    return (await grown('evicted: slow')) === LIMIT
  }, 'the evictions')
  t.equal(held.length, LIMIT, 'the slow ones have made room')
})

t.test('unread responses of the gateway itself are cut as well', async (t) => {
  const world = await startWorld(t)
  const time = holdTime(t)
  const client = new RawClient(world.port)
  client.socket.pause()
  // One response fits into the system's buffers, but these do not.
  const request = `GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\nx-api-key: ${world.keys.acme}\r\nSpace: admin\r\n\r\n`
  client.send(request.repeat(400))
  await until(async () => (await counts(world)).active === 1, 'the requests')
  await until(async () => {
    time.pass(5000)
    const { active, idle } = await counts(world)
    t.equal(idle, 0, 'it has responses to write')
    return active === 0
  }, 'the end of the connection')
  client.close()
})
