/** Failing targets are ejected and restored; without an available target, 503 at once. */

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { nextHop } from '../../src/http/server/next-hop.ts'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { UpstreamConfig } from '../../src/config/config.ts'
import type { Ejected, TargetEvent } from '../../src/proxy/upstream-events.ts'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { EJECTION } from '../../src/proxy/upstream-options.ts'
import { until } from '../support/until.ts'
import { codeOf, front, type FrontOptions, get, serve, serveRaw, targetsAt, valuesOf } from './support.ts'
import { reservePort } from '../support/servers/ports.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'

/** No test waits for a back-off to end: targets return by other means. */
const HOUR = 3_600_000
const forLong = { ...EJECTION, backoff: HOUR, maxBackoff: HOUR }
const briefly = { ...EJECTION, backoff: 40, maxBackoff: 40 }

function listener() {
  const ejected: Ejected[] = []
  const returned: TargetEvent[] = []
  return {
    ejected,
    returned,
    onEjected: (event: Ejected) => void ejected.push(event),
    onReturned: (event: TargetEvent) => void returned.push(event),
  }
}

async function listenAt(t: Test, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    response.end('back')
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

const isOk = (answer: string) => answer.startsWith('HTTP/1.1 200 ')

t.test('one of two is dead: every request gets a response, and the dead one is soon avoided', async (t) => {
  const dead = await reservePort(t)
  const port = await serve(
    t,
    (request, response) => void request.resume().on('end', () => response.end('ok')),
  )
  const events = listener()
  const { port: gatewayPort, upstream } = await front(t, 0, {
    ...targetsAt(dead, port),
    ejection: forLong,
    listener: events,
  })
  for (let i = 0; i < 20; i++) {
    const post = `POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody`
    t.ok(isOk(await roundTrip(gatewayPort, i % 2 === 0 ? get() : post)))
  }
  t.match(events.ejected, [
    {
      upstream: 'trainings',
      target: `http://127.0.0.1:${dead}`,
      blame: 'unreachable',
      cause: { code: 'ECONNREFUSED' },
    },
  ])
  t.match(upstream.targets(), [{ state: 'ejected' }, { state: 'in' }])
})

t.test('it is restored after its ejection time by one probe', async (t) => {
  const dead = await reservePort(t)
  const port = await serve(t, (_, response) => response.end('ok'))
  const events = listener()
  const options = { ...targetsAt(dead, port), ejection: briefly, listener: events }
  const { port: gatewayPort } = await front(t, 0, options)
  await eventuallyAnswers(gatewayPort, () => events.ejected.length >= 1)
  await listenAt(t, dead)
  await eventuallyAnswers(gatewayPort, () => events.returned.length >= 1)
  let seen = false
  for (let i = 0; i < 4; i++) seen ||= (await roundTrip(gatewayPort, get())).endsWith('back')
  t.ok(seen, 'it gets requests again')
})

/** Sends requests, all of which must succeed, until the event is logged. */
async function eventuallyAnswers(gatewayPort: number, holds: () => boolean): Promise<void> {
  const isAnswered = async () => {
    if (holds()) return true
    const answer = await roundTrip(gatewayPort, get())
    if (!isOk(answer)) throw new Error(answer)
    return false
  }
  await until(isAnswered, () => `this did not come true: ${holds}`, { pause: 0 })
}

t.test('one probe at a time', async (t) => {
  const held: Socket[] = []
  let resets = true
  const flaky = await serveRaw(t, (socket) => {
    socket.on('data', () => (resets ? socket.resetAndDestroy() : held.push(socket)))
  })
  const port = await serve(t, (_, response) => response.end('ok'))
  const { port: gatewayPort, upstream } = await front(t, 0, {
    ...targetsAt(flaky, port),
    ejection: briefly,
  })
  await eventuallyAnswers(gatewayPort, () => upstream.targets()[0]?.state === 'ejected')
  resets = false
  // Until it is chosen for one request, which then waits.
  const tester = async (number: number) => {
    for (;;) {
      const wire = new RawClient(gatewayPort).send(get())
      await until(() => held.length === number || wire.socket.destroyed, 'the request at the upstream')
      if (held.length === number) return wire
    }
  }
  const first = await tester(1)
  for (let i = 0; i < 30; i++) t.ok((await roundTrip(gatewayPort, get())).endsWith('ok'))
  t.equal(held.length, 1)
  first.socket.destroy()
  await tester(2)
  t.match(
    upstream.targets()[0],
    { state: 'ejected' },
    'the first left before it had a result, so another probes',
  )
  held[1]?.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  await until(() => upstream.targets()[0]?.state === 'in', 'the target back in service')
})

/** Accepts connections and sends nothing, so that each handshake takes until its timeout. */
const silent = (t: Test) => serveRaw(t, () => {})

function tlsTo(...ports: readonly number[]): Partial<UpstreamConfig> {
  return { connectTimeout: 50, targets: ports.map((port) => new URL(`https://127.0.0.1:${port}`)) }
}

t.test('no target connects in time: 503 at once, with Retry-After', async (t) => {
  const { port: gatewayPort, exchanges } = await front(t, 0, {
    ...tlsTo(await silent(t), await silent(t)),
    ejection: { ...forLong, testInterval: HOUR },
  })
  const codes: (string | undefined)[] = []
  let answer = ''
  for (let i = 0; i < 12; i++) codes.push(codeOf((answer = await roundTrip(gatewayPort, get()))))
  t.same(new Set(codes), new Set(['upstream_unreachable', 'unavailable']))
  t.match(answer, /^HTTP\/1\.1 503 /)
  t.match(answer, 'Nothing was sent')
  t.same(valuesOf(answer, 'retry-after'), ['1'])
  t.notMatch(answer, '127.0.0.1', 'no internal address')
  t.match(exchanges.at(-1)?.cause, { code: 'UPSTREAM_CONNECT_TIMEOUT' }, 'the log has the reason')
})

for (const size of [1, 2]) {
  t.test(
    `no target listens at all ${size}: 502 each time, and recovery with the first request after`,
    async (t) => {
      const ports = await Promise.all(Array.from({ length: size }, () => reservePort(t)))
      const { port: gatewayPort, upstream } = await front(t, 0, {
        ...targetsAt(...ports),
        ejection: forLong,
      })
      for (let i = 0; i < 12; i++)
        t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_unreachable')
      t.equal(upstream.targets().filter(({ state }) => state === 'in').length, 1, 'the last stays available')
      for (const port of ports) await listenAt(t, port)
      t.ok(isOk(await roundTrip(gatewayPort, get())))
    },
  )
}

t.test('no target is reachable: the number of probes is bounded', async (t) => {
  const events = listener()
  const { port: gatewayPort, exchanges } = await front(t, 0, {
    ...tlsTo(await silent(t)),
    ejection: { ...forLong, testInterval: HOUR },
    listener: events,
  })
  for (let i = 0; i < 20 && events.ejected.length === 0; i++) await roundTrip(gatewayPort, get())
  const from = exchanges.length
  await Promise.all(Array.from({ length: 200 }, () => roundTrip(gatewayPort, get())))
  const tests = exchanges.slice(from).filter((each) => nextHop.get(each) !== undefined)
  t.equal(tests.length, 1, 'one in that time')
  t.equal(events.ejected.length, 1, 'the result is reported once')
})

t.test('a 500 is not a failure of the target', async (t) => {
  const port = await serve(t, (_, response) => {
    response.statusCode = 500
    response.end()
  })
  const { port: gatewayPort, upstream } = await front(t, port)
  for (let i = 0; i < 10; i++) t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 500 /)
  t.match(upstream.targets(), [{ state: 'in' }])
})

const faults: Record<string, (socket: Socket) => void> = {
  closed: (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
}
for (const [how, act] of Object.entries(faults)) {
  t.test(`connections that are ${how} before a response: ejected where another target is left`, async (t) => {
    const bad = await serveRaw(t, (socket) => void socket.on('data', () => act(socket)))
    const port = await serve(t, (_, response) => response.end('ok'))
    const events = listener()
    const { port: gatewayPort } = await front(t, 0, {
      ...targetsAt(bad, port),
      ejection: forLong,
      listener: events,
    })
    await eventuallyAnswers(gatewayPort, () => events.ejected.length === 1)
    t.match(events.ejected, [{ blame: 'reset' }])
  })
  t.test(`connections that are ${how}: never the last, because a request may be the cause`, async (t) => {
    const port = await serveRaw(t, (socket) => {
      socket.on('data', (bytes) => {
        if (bytes.includes('/bad')) act(socket)
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      })
    })
    const { port: gatewayPort, upstream } = await front(t, port, { ejection: forLong })
    const bad = 'GET /bad HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n'
    for (let i = 0; i < 20; i++) t.equal(codeOf(await roundTrip(gatewayPort, bad)), 'upstream_protocol_error')
    t.match(upstream.targets(), [{ state: 'in' }])
    t.ok(isOk(await roundTrip(gatewayPort, get())))
  })
}

t.test('a client error is not a failure of the target', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const { port: gatewayPort, upstream } = await front(t, port, { decision: { path: 'not-a-path' } })
  for (let i = 0; i < 5; i++) t.equal(codeOf(await roundTrip(gatewayPort, get())), 'request_malformed')
  t.match(upstream.targets(), [{ state: 'in', pending: 0 }])
})

t.test('a client that disconnects is not', async (t) => {
  const time = holdTime(t)
  const port = await serve(t, () => {})
  const { port: gatewayPort, upstream } = await front(t, port)
  for (let i = 1; i <= 5; i++) {
    const wire = new RawClient(gatewayPort).send(get())
    await until(() => upstream.targets()[0]?.pending === 1, 'a pending request')
    wire.socket.destroy()
    // It may still read: the gateway gives it up after a time.
    await untilStepped(time, () => upstream.targets()[0]?.pending === 0)
  }
  t.match(upstream.targets(), [{ state: 'in' }])
})

t.test('a client that disconnects before a connection is available is not', async (t) => {
  const time = holdTime(t)
  const held: (() => void)[] = []
  const port = await serve(t, (_, response) => void held.push(() => response.end()))
  const { port: gatewayPort, upstream } = await front(t, port, { connections: 1 })
  const pending = () => upstream.targets()[0]?.pending
  const first = new RawClient(gatewayPort).send(get())
  await until(() => held.length === 1, 'the request at the upstream')
  const waiting = Array.from({ length: 5 }, () => new RawClient(gatewayPort).send(get()))
  await until(() => pending() === 6, 'six pending requests')
  for (const wire of waiting) wire.socket.destroy()
  // Requests of disconnected clients no longer wait.
  await untilStepped(time, () => pending() === 1)
  const again = new RawClient(gatewayPort).send(get())
  await until(() => pending() === 2, 'two pending requests')
  held[0]?.()
  await first.ended
  await until(() => held.length === 2, 'the second request at the upstream')
  held[1]?.()
  await again.ended
  await until(() => pending() === 0, 'the end of the pending requests')
  t.match(upstream.targets(), [{ state: 'in' }])
})

t.test('a response timeout is not', async (t) => {
  const port = await serve(t, () => {})
  const { port: gatewayPort, upstream } = await front(t, port, { responseTimeout: 30 })
  for (let i = 0; i < 5; i++) t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_timeout')
  t.match(upstream.targets(), [{ state: 'in' }], 'health checks detect slowness')
})

t.test('a connection that takes too long to open counts, even if the client has left by then', async (t) => {
  const time = holdTime(t)
  const port = await serveRaw(t, (socket) => socket.resume())
  const events = listener()
  const options: FrontOptions = {
    connectTimeout: 200,
    targets: [new URL(`https://127.0.0.1:${port}`)],
    ejection: forLong,
    listener: events,
  }
  const { port: gatewayPort, upstream, exchanges } = await front(t, 0, options)
  const wires = Array.from({ length: 3 }, () => new RawClient(gatewayPort).send(get()))
  await until(() => upstream.targets()[0]?.pending === 3, 'three pending requests')
  wires[0]?.socket.resetAndDestroy()
  await until(() => exchanges.some(({ aborted }) => aborted), 'an aborted exchange')
  time.pass(201)
  await until(() => events.ejected.length === 1, 'the ejection')
  t.match(events.ejected, [{ blame: 'unreachable', cause: { code: 'UPSTREAM_CONNECT_TIMEOUT' } }])
})
