/** Load balancing among available targets, and the limit of requests for each. */

import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { holdTime } from '../support/held-time.ts'
import { codeOf, type Front, front, type FrontOptions, get, serve, targetsAt, valuesOf } from './support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

/** Targets that respond on demand, behind a gateway. */
class Fleet {
  readonly front: Front
  /** Requests in flight at each target. */
  readonly held: ServerResponse[][]

  private constructor(front: Front, held: ServerResponse[][]) {
    this.front = front
    this.held = held
  }

  static async start(t: Test, size: number, options: FrontOptions = {}): Promise<Fleet> {
    const held: ServerResponse[][] = Array.from({ length: size }, () => [])
    const ports = await Promise.all(held.map((each) => serve(t, (_, response) => void each.push(response))))
    return new Fleet(await front(t, 0, { ...options, ...targetsAt(...ports) }), held)
  }

  get counts(): number[] {
    return this.held.map((each) => each.length)
  }

  /** Sends a request, and waits until a target or the gateway has it. */
  async send(): Promise<RawClient> {
    const had = this.#seen()
    const wire = new RawClient(this.front.port).send(get())
    await until(() => this.#seen() > had, 'a request at the upstream')
    return wire
  }

  #seen(): number {
    const refused = this.front.exchanges.filter(({ refusal }) => refusal !== null).length
    return refused + this.counts.reduce((sum, count) => sum + count, 0)
  }
}

t.test('the target with the fewest requests in flight', async (t) => {
  const fleet = await Fleet.start(t, 3)
  for (let i = 0; i < 6; i++) await fleet.send()
  t.same(fleet.counts, [2, 2, 2], 'equal ones in turn')
  fleet.held[1]?.splice(0).forEach((response) => response.end())
  await until(
    () => fleet.front.upstream.targets()[1]?.pending === 0,
    'the end of the request at the second target',
  )
  for (let i = 0; i < 3; i++) await fleet.send()
  t.ok((fleet.counts[1] ?? 0) >= 2, 'the idle one until it has as many as the others')
  t.ok(Math.max(...fleet.counts) === 3, 'then any')
  t.same(
    fleet.front.upstream.targets().map(({ pending }) => pending),
    fleet.counts,
  )
})

t.test('in turn, also without requests in flight', async (t) => {
  const seen: string[] = []
  const ports = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      serve(t, (_, response) => {
        seen.push(name)
        response.end()
      }),
    ),
  )
  for (const balance of ['least-pending', 'round-robin'] as const) {
    seen.length = 0
    const { port } = await front(t, 0, { ...targetsAt(...ports), balance })
    for (let i = 0; i < 6; i++) await roundTrip(port, get())
    t.same(seen, ['a', 'b', 'c', 'a', 'b', 'c'], balance)
  }
})

t.test('round-robin ignores requests in flight', async (t) => {
  const fleet = await Fleet.start(t, 2, { balance: 'round-robin' })
  for (let i = 0; i < 4; i++) await fleet.send()
  fleet.held[0]?.splice(0).forEach((response) => response.end())
  await until(
    () => fleet.front.upstream.targets()[0]?.pending === 0,
    'the end of the request at the first target',
  )
  await fleet.send()
  await fleet.send()
  t.same(fleet.counts, [1, 3])
})

t.test('the Host is the target’s', async (t) => {
  const hosts: (string | undefined)[] = []
  const listen = (_: unknown, response: ServerResponse) => {
    hosts.push(response.req.headers.host)
    response.end()
  }
  const ports = [await serve(t, listen), await serve(t, listen)]
  const { port } = await front(t, 0, targetsAt(...ports))
  for (let i = 0; i < 2; i++) await roundTrip(port, get())
  t.same(
    hosts,
    ports.map((each) => `127.0.0.1:${each}`),
  )
})

t.test('beyond the limit of one target the others serve; beyond that of all, 503 at once', async (t) => {
  for (const size of [1, 2]) {
    const fleet = await Fleet.start(t, size, { maxPending: 2 })
    for (let i = 0; i < 2 * size; i++) await fleet.send()
    t.same(fleet.counts, Array(size).fill(2))
    const answer = await (await fleet.send()).ended
    t.match(answer, /^HTTP\/1\.1 503 /)
    t.equal(codeOf(answer), 'unavailable')
    t.match(answer, 'too many requests waiting')
    t.same(valuesOf(answer, 'retry-after'), ['1'])
    t.same(fleet.counts, Array(size).fill(2), 'not forwarded')
    fleet.held[0]?.shift()?.end()
    await until(
      () => fleet.front.upstream.targets()[0]?.pending === 1,
      'a pending request at the first target',
    )
    await fleet.send()
    t.equal(fleet.counts[0], 2, 'freed slots are used again')
  }
})

t.test('waiting requests count, cancelled ones do not', async (t) => {
  const fleet = await Fleet.start(t, 1, { maxPending: 3, connections: 1 })
  await fleet.send()
  const waiting = [new RawClient(fleet.front.port).send(get()), new RawClient(fleet.front.port).send(get())]
  const pending = () => fleet.front.upstream.targets()[0]?.pending
  await until(() => pending() === 3, 'three pending requests')
  t.equal(codeOf(await roundTrip(fleet.front.port, get())), 'unavailable')
  for (const wire of waiting) wire.socket.destroy()
  await until(
    () => fleet.front.exchanges.filter(({ aborted }) => aborted).length === 2,
    'two aborted exchanges',
  )
  t.equal(pending(), 1)
  fleet.held[0]?.shift()?.end()
  await until(() => pending() === 0, 'the end of the pending requests')
})

t.test('the count returns to zero after requests with any result', async (t) => {
  const time = holdTime(t)
  let silent = 0
  const port = await serve(t, (request, response) => {
    if (request.url === '/reset') request.socket.resetAndDestroy()
    else if (request.url === '/half') response.write('half', () => request.socket.destroy())
    else if (request.url === '/early') response.end('early')
    else if (request.url === '/silent') silent++
    else request.resume().on('end', () => response.end('ok'))
  })
  const { port: frontPort, upstream } = await front(t, port, { responseTimeout: 100 })
  const ask = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: gw\r\n${more}`
  const closing = 'Connection: close\r\n\r\n'
  for (const path of ['/', '/reset', '/half']) await roundTrip(frontPort, ask(`GET ${path}`, closing))
  const late = new RawClient(frontPort).send(ask('GET /silent', closing))
  await until(() => silent === 1, 'the request at the silent target')
  time.pass(200)
  t.equal(codeOf(await late.ended), 'upstream_timeout')
  const leaver = new RawClient(frontPort).send(ask('POST /', 'Content-Length: 10\r\n\r\nabc'))
  await until(() => upstream.targets()[0]?.pending === 1, 'a pending request')
  leaver.socket.destroy()
  const early = new RawClient(frontPort).send(ask('POST /early', 'Content-Length: 10\r\n\r\nabc'))
  await early.until('early')
  early.socket.destroy()
  await until(() => upstream.targets()[0]?.pending === 0, 'the end of the pending request')
  t.pass('none is left')
})
