/** A request that makes the target end its connection does so once to the requests of others. */

import t, { type Test } from 'tap'
import { RETRIES } from '../../../src/proxy/upstream-options.ts'
import { holdTime } from '../../support/held-time.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import type { RawHttp2 } from '../../support/raw-http2.ts'
import { front, targetsAt } from '../support.ts'
import { answer, goAway, headers, serveFrames } from './raw.ts'
import { front2 } from './support.ts'

const NO_RETRIES = { ...RETRIES, perRequest: 0 }

/** A request of the caller at this address of loopback. */
const ask = (port: number, method: string, path: string, from: string) =>
  new RawClient(port, { from }).send(
    `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  )

/** How a target ends a connection. @param stream of the request that causes it */
const ENDS: Readonly<Record<string, (connection: RawHttp2, stream: number) => void>> = {
  'a reset': (connection) => connection.socket.resetAndDestroy(),
  'a close': (connection) => connection.socket.end(),
  'GOAWAY with an error, and a close': (connection, stream) => {
    connection.send(goAway(stream, 11))
    connection.socket.end()
  },
  'GOAWAY with an error for streams that it did not process': (connection) => {
    connection.send(goAway(0, 2))
    connection.socket.end()
  },
  'frames that are no HTTP/2': (connection) => {
    connection.send(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))
    connection.socket.end()
  },
}

/** A target that ends a connection with `/kill`, and keeps all other requests until `release`. */
async function target(t: Test, end: (connection: RawHttp2, stream: number) => void) {
  const held: { readonly connection: RawHttp2; readonly stream: number }[] = []
  let kills = 0
  const served = await serveFrames(t, (connection, stream, { fields }) => {
    if (fields?.[':path'] !== '/kill') return void held.push({ connection, stream })
    kills++
    end(connection, stream)
  })
  const release = () => {
    for (const { connection, stream } of held.splice(0)) connection.send(answer(stream))
  }
  return { ...served, held, release, kills: () => kills }
}

for (const [what, end] of Object.entries(ENDS))
  for (const method of ['POST', 'GET'])
    t.test(`${what}, by ${method}`, async (t) => {
      const { port, held, release, kills, connections } = await target(t, end)
      const { port: gatewayPort } = await front2(t, port, { route: { requirement: 'public' } })
      // The first time, nothing tells it from the others.
      await ask(gatewayPort, method, '/kill', '127.0.0.9').ended
      t.ok(kills() > 0)
      const others = Array.from({ length: 5 }, (_, i) => ask(gatewayPort, 'POST', '/', `127.0.0.${20 + i}`))
      await until(() => held.length === 5, 'the requests of others')
      for (let i = 0; i < 3; i++) await ask(gatewayPort, method, '/kill', '127.0.0.9').ended
      t.ok(kills() > 3)
      const last = ask(gatewayPort, 'POST', '/', '127.0.0.9')
      await until(() => held.length === 6, 'a request of the same caller')
      t.equal(new Set(held.slice(0, 5).map(({ connection }) => connection)).size, 1, 'others share theirs')
      t.not(held[5]?.connection, held[0]?.connection)
      release()
      for (const each of [...others, last]) t.match(await each.ended, /good/)
      t.ok(connections.length > 4)
    })

for (const [what, end] of Object.entries(ENDS))
  t.test(`after ${what}, the caller shares connections again in ten seconds`, async (t) => {
    const { port, held, release } = await target(t, end)
    const { port: gatewayPort } = await front2(t, port, {
      route: { requirement: 'public' },
      retries: NO_RETRIES,
    })
    const time = holdTime(t)
    await ask(gatewayPort, 'POST', '/kill', '127.0.0.9').ended
    time.pass(10_001)
    const both = ['127.0.0.9', '127.0.0.20'].map((from) => ask(gatewayPort, 'POST', '/', from))
    await until(() => held.length === 2, 'both requests')
    t.equal(held[0]?.connection, held[1]?.connection)
    release()
    for (const each of both) t.match(await each.ended, /good/)
  })

t.test('requests in flight with the one that ends the connection go alone too, and are served', async (t) => {
  const { port, held, release } = await target(t, (connection) => connection.socket.resetAndDestroy())
  const { port: gatewayPort } = await front2(t, port, { route: { requirement: 'public' } })
  const hit = ask(gatewayPort, 'POST', '/', '127.0.0.20')
  await until(() => held.length === 1, 'the request')
  await ask(gatewayPort, 'POST', '/kill', '127.0.0.9').ended
  t.match(await hit.ended, / 502 /)
  held.length = 0
  const again = [20, 20, 20, 30, 30].map((last) => ask(gatewayPort, 'POST', '/', `127.0.0.${last}`))
  await until(() => held.length === 5, 'further requests')
  t.equal(new Set(held.map(({ connection }) => connection)).size, 4, 'three alone, two together')
  release()
  for (const each of again) t.match(await each.ended, /good/)
})

t.test('the end of one connection does not eject its target', async (t) => {
  const { port, held } = await target(t, (connection) => connection.socket.resetAndDestroy())
  const other = await serveFrames(t, (connection, stream) => connection.send(answer(stream)))
  const { port: gatewayPort, upstream } = await front(t, port, {
    ...targetsAt(port, other.port),
    protocol: 'h2c',
    route: { requirement: 'public' },
    balance: 'round-robin',
  })
  const all = Array.from({ length: 20 }, (_, i) => ask(gatewayPort, 'POST', '/', `127.0.0.${20 + i}`))
  await until(() => held.length === 10, 'half of them')
  while (held.length > 0) {
    const kill = ask(gatewayPort, 'POST', '/kill', '127.0.0.9')
    if (!(await kill.ended).includes('good')) break
  }
  for (const each of all) t.match(await each.ended, / (200|502) /)
  t.same(
    upstream.targets().map(({ state }) => state),
    ['in', 'in'],
  )
})

t.test('a caller whose requests go alone fills the target: no request of others ends for more', async (t) => {
  let begun = 0
  const { port } = await serveFrames(t, (connection, stream, { fields }) => {
    if (fields?.[':path'] === '/kill') return void connection.socket.resetAndDestroy()
    connection.send(headers(stream, [':status', '200']))
    begun++
  })
  const time = holdTime(t)
  const { port: gatewayPort, exchanges } = await front2(t, port, {
    route: { requirement: 'public' },
    retries: NO_RETRIES,
    maxPending: 8,
  })
  await ask(gatewayPort, 'POST', '/kill', '127.0.0.9').ended
  const clients: RawClient[] = []
  const open = (count: number, last: number) => {
    for (let i = 0; i < count; i++) clients.push(ask(gatewayPort, 'GET', '/', `127.0.0.${last}`))
  }
  open(3, 20)
  await until(() => begun === 3, 'requests of another')
  open(5, 9)
  await until(() => begun === 8, 'as many as the target takes')
  time.pass(5000)
  const ended = () => exchanges.filter(({ refusal, aborted }) => refusal !== null || aborted).length
  open(3, 9)
  await until(() => ended() === 4, 'the end of three requests, beside the first one')
  t.same(
    exchanges.slice(9).map(({ refusal }) => refusal?.code),
    ['unavailable', 'unavailable', 'unavailable'],
  )
  t.equal(begun, 8, 'it is these that are refused')
  // A third caller holds less, and finds room.
  open(1, 30)
  await until(() => begun === 9, 'the request of the third one')
  for (const { socket } of clients) socket.resetAndDestroy()
  await until(() => ended() === exchanges.length, 'the end of all')
})
