/** Connections whose last request was refused are deferred, but not indefinitely. */

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { DeferredQueue } from '../../../src/lib/deferred-queue.ts'
import { ignore } from '../../../src/lib/ignore.ts'
import { metric } from '../../support/operations.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import {
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  HEADERS,
  RST_STREAM,
} from '../../../src/http/wire/http2/http2-frames.ts'
import { Random } from '../../support/random.ts'
import { type Fields, GET, POST, type RawHttp2 } from '../../support/raw-http2.ts'
import { answerOf, ask, openRaw, openSession, startSecured } from '../../http2/support.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'

let isBusy = false
const world = await startWorld(t, {
  upstream: ['max_pending: 1'],
  answer: (_request, response) => {
    if (!isBusy) response.end()
  },
})

const always = () => true
const never = () => false

t.test('while others are in flight, one in each iteration of the event loop, in order', async (t) => {
  const turns = new DeferredQueue(always)
  const gone: number[] = []
  for (let i = 0; i < 100; i++) turns.add({ run: () => gone.push(i) })
  t.same(gone, [])
  let before = 0
  for (let iterations = 0; gone.length < 100; iterations++) {
    await turn()
    t.ok(gone.length - before <= 2, 'others are processed between them')
    before = gone.length
    t.ok(iterations < 200)
  }
  t.same(
    gone,
    Array.from({ length: 100 }, (_, i) => i),
  )
})

t.test('while no other is in flight, up to eight in an iteration, until one is', async (t) => {
  let others = false
  const turns = new DeferredQueue(() => others)
  let gone = 0
  for (let i = 0; i < 100; i++) turns.add({ run: () => gone++ })
  await turn()
  await turn()
  t.ok(gone >= 8 && gone <= 16, `${gone} tasks in two iterations`)
  others = true
  const before = gone
  await turn()
  t.ok(gone - before <= 1)
  others = false
  for (let iterations = 0; gone < 100; iterations++) {
    await turn()
    t.ok(iterations < 20)
  }
})

t.test('a task that adds itself again has one turn in an iteration', async (t) => {
  for (const othersInFlight of [always, never]) {
    const turns = new DeferredQueue(othersInFlight)
    let runs = 0
    const task = {
      run: () => {
        if (++runs < 20) turns.add(task)
      },
    }
    turns.add(task)
    for (let iterations = 1; runs < 20; iterations++) {
      await turn()
      t.ok(runs <= iterations + 1, `${runs} runs in ${iterations} iterations`)
    }
  }
})

t.test('a task that throws takes no other one with it', async (t) => {
  const turns = new DeferredQueue(never)
  let runs = 0
  const thrown = new Promise((resolve) => process.once('uncaughtException', resolve))
  turns.add({
    run: () => {
      throw new Error('a fault of the gateway')
    },
  })
  turns.add({ run: () => runs++ })
  await thrown
  await turn()
  t.equal(runs, 1)
})

t.test('pipelined requests behind refused ones all get a response', async (t) => {
  const refused = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'
  const last = 'GET /docs/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const text = await roundTrip(world.port, refused.repeat(50) + last)
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((each) => each[1])
  t.same(statuses, [...Array.from({ length: 50 }, () => '404'), '200'])
})

t.test('also if the refusal is for a busy upstream', async (t) => {
  isBusy = true
  const before = world.upstream.seen.length
  const first = new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => world.upstream.seen.length > before, 'the request at the upstream')
  const requests = 1000
  let over = false
  const text = roundTrip(
    world.port,
    `${'GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests - 1)}GET /docs/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  ).finally(() => {
    over = true
  })
  let turns = 0
  for (; !over; turns++) await turn()
  t.equal([...(await text).matchAll(/HTTP\/1\.1 503 /g)].length, requests)
  t.ok(turns > requests / 8, `others were processed ${turns} times between them`)
  first.socket.destroy()
})

const CONNECTIONS = 60

t.test('of many connections, also where each one was idle in between', async (t) => {
  const refused = 'GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n'
  const { port, upstream } = await startWorld(t, { answer: () => {} })
  const clients = Array.from({ length: CONNECTIONS }, () => new RawClient(port))
  const held = new RawClient(port).send('GET /docs/held HTTP/1.1\r\nHost: a\r\n\r\n')
  t.teardown(() => [held, ...clients].forEach((client) => client.close()))
  await until(() => upstream.seen.length > 0, 'another request in flight')
  const answered = (count: number) =>
    Promise.all(clients.map((client) => client.until(new RegExp(`(HTTP/1.1 404[^]*){${count}}`))))
  clients.forEach((client) => client.send(refused))
  await answered(1)
  for (let i = 0; i < CONNECTIONS; i++) await turn()
  clients.forEach((client) => client.send(refused))
  const turns = await turnsUntil(answered(2))
  t.ok(turns > CONNECTIONS / 2, `others were processed ${turns} times between them`)
  // A part of a head has a turn. The rest of it has another one.
  clients.forEach((client) => client.send(refused.slice(0, 9)))
  for (let i = 0; i < CONNECTIONS; i++) await turn()
  clients.forEach((client) => client.send(refused.slice(9)))
  const later = await turnsUntil(answered(3))
  t.ok(later > CONNECTIONS / 2, `others were processed ${later} times between the rests of heads`)
})

t.test('over HTTP/2 too', async (t) => {
  const secured = await startSecured(t, { routes: ['GET /docs/*: public'], answer: () => {} })
  openSession(t, secured.securePort).request({ ':path': '/docs/held' }).on('error', ignore)
  await until(() => secured.upstream.seen.length > 0, 'another request in flight')
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => openRaw(t, secured.securePort)))
  const answered = (id: number) => Promise.all(clients.map((client) => client.status(id)))
  clients.forEach((client) => client.headers(1, NOWHERE))
  t.same(new Set(await answered(1)), new Set([404]))
  for (let i = 0; i < CONNECTIONS; i++) await turn()
  clients.forEach((client) => client.headers(3, NOWHERE))
  const turns = await turnsUntil(answered(3))
  t.ok(turns > CONNECTIONS / 2, `others were processed ${turns} times between them`)
})

/** Streams of one connection. */
const STREAMS = 96
const NOWHERE = [...GET.slice(0, -1), [':path', '/nowhere']] as const

async function turnsUntil(work: Promise<unknown>): Promise<number> {
  let over = false
  const ended = work.finally(() => {
    over = true
  })
  let turns = 0
  for (; !over; turns++) await turn()
  await ended
  return turns
}

t.test('over HTTP/2 streams of one connection do not count as one request', async (t) => {
  const secured = await startSecured(t)
  const ids = Array.from({ length: STREAMS }, (_, i) => 2 * i + 5)
  const malformed = [...NOWHERE, ['Upper-Case', 'a']] as const
  const floods: [string, number, (client: RawHttp2) => void][] = [
    ['refused', 404, (client) => ids.forEach((id) => client.headers(id, NOWHERE))],
    ['malformed', 400, (client) => ids.forEach((id) => client.headers(id, malformed))],
    [
      'refused, behind one that the client resets',
      404,
      (client) => {
        client.headers(3, NOWHERE).frame(RST_STREAM, 0, 3, [0, 0, 0, 8])
        ids.forEach((id) => client.headers(id, NOWHERE))
      },
    ],
  ]
  for (const [what, status, send] of floods) {
    const client = await openRaw(t, secured.securePort)
    t.equal(await client.headers(1, NOWHERE).status(1), 404)
    client.socket.cork()
    send(client)
    client.socket.uncork()
    const answers = Promise.all(ids.map((id) => client.status(id)))
    const turns = await turnsUntil(answers)
    t.same(new Set(await answers), new Set([status]), what)
    t.ok(turns > STREAMS / 2, `${what}: others were processed ${turns} times between them`)
  }
  const fresh = await openRaw(t, secured.securePort)
  await fresh.settled()
  fresh.socket.cork()
  for (const id of ids) fresh.headers(id, NOWHERE)
  fresh.socket.uncork()
  const turns = await turnsUntil(Promise.all(ids.map((id) => fresh.status(id))))
  t.ok(turns > STREAMS / 16, `the first ones: others were processed ${turns} times between them`)
})

t.test('and the other streams of the connection go on', async (t) => {
  const secured = await startSecured(t, {
    routes: ['GET /docs/*: public', 'POST /docs/*: public'],
    answer: (_request, response) => response.end('hello'),
  })
  const session = openSession(t, secured.securePort)
  const nowhere = () => ask(session, { ':path': '/nowhere' })
  const upload = session.request({ ':path': '/docs/a', ':method': 'POST' })
  const received = answerOf(upload)
  const part = Buffer.alloc(100_000)
  for (let round = 0; round < 10; round++) {
    upload.write(part)
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, nowhere),
      ask(session, { ':path': '/docs/a' }),
    ])
    t.same(
      answers.map(({ status }) => status),
      [...Array.from({ length: 20 }, () => 404), 200],
    )
  }
  upload.end()
  t.match(await received, { status: 200, body: 'hello' })
})

t.test('wherever the bytes are split, all of them are read, once and in order', async (t) => {
  const secured = await startSecured(t, { routes: ['POST /docs/*: public'] })
  const random = new Random(1)
  const client = await openRaw(t, secured.securePort)
  t.equal(await client.headers(1, NOWHERE).status(1), 404)
  const pieces: Buffer[] = []
  const headers = (id: number, fields: Fields, flags: number) =>
    void pieces.push(frame(HEADERS, END_HEADERS | flags, id, client.block(fields)))
  const uploads = new Map<number, string>()
  for (let id = 3; id < 2 * STREAMS; id += 2) {
    if (id % 3 !== 0) headers(id, NOWHERE, END_STREAM)
    else {
      headers(id, [...POST.slice(0, -1), [':path', `/docs/${id}`]], 0)
      uploads.set(id, '')
    }
    // A part for one of the uploads that have begun.
    const open = [...uploads.keys()]
    const at = open[random.below(open.length)]
    if (at === undefined) continue
    const part = `${id}.`.repeat(random.below(50))
    uploads.set(at, `${uploads.get(at)}${part}`)
    pieces.push(frame(DATA, 0, at, Buffer.from(part)))
  }
  for (const id of uploads.keys()) pieces.push(frame(DATA, END_STREAM, id, Buffer.alloc(0)))
  const bytes = Buffer.concat(pieces)
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(random.below(4) === 0 ? 2000 : 40)
    client.send(bytes.subarray(at, end))
    if (random.below(3) === 0) await turn()
    at = end
  }
  for (let id = 3; id < 2 * STREAMS; id += 2) t.equal(await client.status(id), uploads.has(id) ? 200 : 404)
  const received = new Map(secured.upstream.seen.map(({ url, body }) => [url, body]))
  t.equal(secured.upstream.seen.length, uploads.size)
  for (const [id, body] of uploads) t.equal(received.get(`/docs/${id}`), body)
})

t.test('a client that leaves after requests that are to be refused leaves nothing behind', async (t) => {
  const secured = await startSecured(t)
  for (let round = 0; round < 5; round++) {
    const session = openSession(t, secured.securePort)
    t.equal((await ask(session, { ':path': '/nowhere' })).status, 404)
    const last = ask(session, { ':path': '/nowhere' })
    for (let i = 0; i < 90; i++) session.request({ ':path': '/nowhere' }).on('error', () => {})
    t.equal((await last).status, 404)
    session.destroy()
  }
  await until(
    async () => (await metric(secured, 'seatgate_requests_in_flight')) === 0,
    'no request in flight',
  )
})
