/** Connections whose last request was refused are deferred, but not indefinitely. */

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { DeferredQueue } from '../../../src/lib/deferred-queue.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'

let isBusy = false
const world = await startWorld(t, {
  upstream: ['max_pending: 1'],
  answer: (_request, response) => {
    if (!isBusy) response.end()
  },
})

t.test('a few in each iteration of the event loop, in order', async (t) => {
  const turns = new DeferredQueue()
  const gone: number[] = []
  for (let i = 0; i < 100; i++) turns.add({ run: () => gone.push(i) })
  t.same(gone, [])
  let before = 0
  for (let iterations = 0; gone.length < 100; iterations++) {
    await turn()
    t.ok(gone.length - before <= 8, 'others are processed between them')
    before = gone.length
    t.ok(iterations < 200)
  }
  t.same(
    gone,
    Array.from({ length: 100 }, (_, i) => i),
  )
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
