/** SIGTERM under load costs no request: every request on an accepted connection is answered. */

import t from 'tap'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { serveRaw } from '../proxy/support.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { Load } from './load.ts'
import { startService } from './service.ts'

/** The kernel resets connections that arrive while the listener closes; how many, and how soon, depends on the machine. */
const NOT_ACCEPTED = /^(?:connect ECONNRESET|reset after 0 bytes)/

/** A busy machine may stall between the connection of a client and its request. */
const PATIENT = 'limits: { header_timeout: 5m }'

const { url } = await startService(t, 'one')

for (const workers of [1, 2]) {
  t.test(`${workers} processes: 500 requests per second, kept and fresh connections`, async (t) => {
    const gateway = await startGatewayProcess(t, { target: url, top: [`workers: ${workers}`, PATIENT] })
    const load = new Load({ port: gateway.port, rate: 500, fresh: 0.2 })
    await load.more(500)
    gateway.signal('SIGTERM')
    t.equal(await gateway.ended, 0)
    await until(() => load.refused > 0, 'a refused connection')
    await load.stop()
    t.same(
      load.failures.filter((failure) => !NOT_ACCEPTED.test(failure)),
      [],
    )
    t.notMatch(gateway.log, '"aborted":true', 'no request was received and left without its response')
    t.match(gateway.lines().at(-1), { msg: 'ended' })
  })
}

t.test('a connection that is still being opened to an upstream does not outlast the drain', async (t) => {
  let connections = 0
  // It accepts connections, and never answers the TLS handshake.
  const port = await serveRaw(t, (socket) => {
    connections++
    socket.resume()
  })
  const { gateway, port: front } = await startWorld(t, {
    target: `https://127.0.0.1:${port}`,
    upstream: ['connect_timeout: 1h'],
  })
  const client = new RawClient(front).send('GET /docs/a HTTP/1.1\r\nHost: gw\r\n\r\n')
  await until(() => connections === 1, 'the connection to the upstream')
  let closed = false
  void gateway.close(0).then(() => (closed = true))
  await client.ended
  await until(() => closed, 'the end of the gateway')
})

t.test('drain_delay: /readyz fails at once, and all else continues', async (t) => {
  const gateway = await startGatewayProcess(t, { target: url, top: ['drain_delay: 1h', PATIENT] })
  await until(async () => (await gateway.ready()).status === 200, '200 of /readyz')
  const load = new Load({ port: gateway.port, rate: 200 })
  await load.more(100)
  gateway.signal('SIGTERM')
  await until(async () => (await gateway.ready()).status === 503, '503 of /readyz')
  t.match((await gateway.ready()).body, { status: 'not_ready', draining: true })
  t.equal((await fetch(`${gateway.ops}/livez`)).status, 200)
  await load.more(100)
  t.equal(load.refused, 0, 'new connections are accepted')
  await load.stop()
  t.same(load.failures, [])
})

t.test('a gateway closes once the delay has passed', async (t) => {
  const world = await startWorld(t)
  const time = holdTime(t)
  let closed = false
  const closing = world.gateway.close(1000, 3000).then(() => (closed = true))
  time.pass(2999)
  t.equal((await world.client.send('GET', '/docs/a')).status, 200)
  t.equal(closed, false)
  await untilStepped(time, () => closed)
  await closing
  await t.rejects(world.client.send('GET', '/docs/a'), { code: 'ECONNREFUSED' })
})
