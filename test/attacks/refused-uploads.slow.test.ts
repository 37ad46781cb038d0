/**
 * Large uploads that are refused. Clients that read the response only after sending everything, or that treat a
 * failed write as the end, read it as they do from nginx. The gateway discards what they send meanwhile, within
 * limits.
 */

import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { RawClient } from '../support/raw-client.ts'
import { startWorld, type World } from '../support/world.ts'
import { until } from '../support/until.ts'
import { holdTime } from '../support/held-time.ts'
import { standstill } from '../proxy/support.ts'
import { metric } from '../support/operations.ts'

const MiB = 1024 * 1024
/** More than the buffers of the system hold. */
const SIZE = 24 * MiB
const TIMES = 4
const run = promisify(execFile)

const ROUTES = ['POST /v1/trainings: trainings:create', 'POST /open: public']
const PATHS = { '/open': 413, '/v1/trainings': 401 } as const

const URLLIB = `
import sys, urllib.request, urllib.error
for chunked in (False, True):
    for i in range(${TIMES / 2}):
        body = bytes(${SIZE})
        data = (body[at:at + 65536] for at in range(0, len(body), 65536)) if chunked else body
        try:
            urllib.request.urlopen(urllib.request.Request(sys.argv[1], data=data, method='POST'))
            print('?')
        except urllib.error.HTTPError as error:
            print(error.code, len(error.read()) > 0)
        except Exception as error:
            print(repr(error))
`

const FETCH = `
for (let i = 0; i < ${TIMES}; i++) {
  const stream = new ReadableStream({ start(it) { for (let n = 0; n < ${SIZE / 65536}; n++) it.enqueue(new Uint8Array(65536)); it.close() } })
  const body = i % 2 ? stream : new Uint8Array(${SIZE})
  try {
    const answer = await fetch(process.argv[1], { method: 'POST', body, duplex: 'half' })
    console.log(answer.status, (await answer.text()).length > 0 ? 'True' : 'False')
  } catch (error) { console.log(String(error.cause ?? error)) }
}
`

const CLIENTS: Record<string, (url: string) => [string, string[]]> = {
  'urllib, python3': (url) => ['python3', ['-c', URLLIB, url]],
  'fetch, Node.js': (url) => [process.execPath, ['--input-type=module', '-e', FETCH, url]],
}

for (const [name, of] of Object.entries(CLIENTS)) {
  t.test(name, async (t) => {
    const [command] = of('')
    if (spawnSync(command, ['--version']).error !== undefined) {
      t.pass('not installed')
      return
    }
    const world = await startWorld(t, { routes: ROUTES })
    for (const [path, status] of Object.entries(PATHS)) {
      const { stdout } = await run(...of(`http://127.0.0.1:${world.port}${path}`))
      const answers = stdout.trim().split('\n')
      t.same(
        answers,
        Array.from({ length: TIMES }, () => `${status} True`),
        `${status}`,
      )
    }
    t.equal(world.upstream.seen.length, 0)
  })
}

const noneLingers = (world: World) =>
  until(async () => (await lingering(world)) === 0, 'the end of the lingering connections')
const lingering = (world: World) => metric(world, 'seatgate_connections{state="lingering"}')

function bounded(t: Test, limits: string): Promise<World> {
  return startWorld(t, { routes: ROUTES, top: [`limits: { ${limits} }`] })
}

/** A refused request whose client has not finished. */
async function refused(t: Test, world: World, head = 'Content-Length: 20000000'): Promise<RawClient> {
  const wire = new RawClient(world.port)
  t.teardown(() => wire.socket.destroy())
  // The other side ends its own at once.
  wire.socket.allowHalfOpen = true
  await wire.send(`POST /open HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`).until('body_too_large')
  return wire
}

t.test('a client that never stops sending is cut at the limit', async (t) => {
  const world = await bounded(t, 'lingering_time: 1s, lingering_timeout: 60s')
  for (const head of ['Content-Length: 20000000', 'Content-Length: 99999999999']) {
    const wire = await refused(t, world, head)
    const drip = setInterval(() => wire.socket.writable && wire.socket.write('a'), 50)
    t.teardown(() => clearInterval(drip))
    await wire.ended
    clearInterval(drip)
    await noneLingers(world)
  }
})

t.test('clients that send at full speed stay within the rate', async (t) => {
  const world = await bounded(t, 'lingering_time: 10m')
  const time = holdTime(t)
  const clients = await Promise.all(
    Array.from({ length: 4 }, () => refused(t, world, 'Content-Length: 99999999999')),
  )
  const chunk = Buffer.alloc(MiB)
  for (const { socket } of clients) {
    let left = 64
    const more = () => {
      while (left-- > 0 && socket.write(chunk));
    }
    socket.on('drain', more)
    more()
  }
  const sent = () =>
    clients.reduce((sum, { socket }) => sum + socket.bytesWritten - socket.writableLength, 0) / MiB
  const buffered = await standstill(sent)
  t.ok(buffered < 100, `${buffered} MiB without time`)
  for (let tick = 0; tick < 20; tick++) {
    time.pass(50)
    await standstill(sent)
  }
  const inOneSecond = sent() - buffered
  t.ok(inOneSecond > 32 && inOneSecond < 96, `${inOneSecond} MiB, of 64 MiB a second`)
})

t.test('a silent client is cut sooner', async (t) => {
  const world = await bounded(t, 'lingering_time: 10m, lingering_timeout: 200ms')
  await refused(t, world)
  await noneLingers(world)
  t.pass('the connection is closed')
})

t.test('no longer than an accepted body may stall', async (t) => {
  const world = await bounded(t, 'lingering_time: 10m, lingering_timeout: 10m, body_timeout: 200ms')
  await refused(t, world)
  await noneLingers(world)
  t.pass('the connection is closed')
})

t.test('they do not use up connections, and their number is bounded', async (t) => {
  const world = await bounded(t, 'connections: 16, lingering_connections: 8')
  const wires: RawClient[] = []
  for (let i = 0; i < 40; i++) wires.push(await refused(t, world))
  t.ok((await lingering(world)) <= 8)
  t.equal((await world.client.send('POST', '/open', {}, 'a')).status, 200)
  t.equal(await metric(world, 'seatgate_connections_refused_total{reason="limit"}'), 0)
  const closed = () => {
    const first = wires.slice(0, 32)
    // They notice when they send more.
    for (const { socket } of first) if (socket.writable) socket.write('a')
    return first.every(({ socket }) => socket.destroyed)
  }
  await until(closed, 'the end of the oldest ones')
  t.ok(wires.every(({ received }) => received.startsWith('HTTP/1.1 413 ')))
})

t.test("the gateway's shutdown does not wait for them", async (t) => {
  const world = await bounded(t, 'lingering_time: 10m, lingering_timeout: 10m')
  const wire = await refused(t, world)
  const drip = setInterval(() => wire.socket.writable && wire.socket.write('a'), 50)
  t.teardown(() => clearInterval(drip))
  t.equal(await lingering(world), 1)
  await world.gateway.close(600_000)
  t.pass('it has ended')
})
