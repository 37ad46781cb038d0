/** SIGTERM under load costs no request: every request on an accepted connection is answered. */

import t from 'tap'
import { OperatedGateway } from './gateway.ts'
import { Load } from './load.ts'
import { startService } from './service.ts'
import { until } from '../runtime/workers/support.ts'

/** The kernel resets connections that arrive while the listener closes; how many depends on the machine. */
const NOT_ACCEPTED = 'ECONNRESET after 0 bytes'

for (const workers of [1, 2]) {
  t.test(`${workers} processes: 500 requests a second, kept and fresh connections`, async (t) => {
    const service = await startService(t, 'one')
    const gateway = await OperatedGateway.start(t, { targets: [service.url], top: [`workers: ${workers}`] })
    const load = new Load({ port: gateway.port, rate: 500, fresh: 0.2 })
    await load.more(1000)
    gateway.signal('SIGTERM')
    t.same(await gateway.ended, { code: 0, signal: null })
    await load.stop()
    t.same(
      load.failures.filter((failure) => failure !== NOT_ACCEPTED),
      [],
    )
    t.notMatch(gateway.log, '"aborted":true', 'no request was received and left without its response')
    t.ok(load.refused > 0, 'then connections are refused')
    t.match(gateway.remarks.at(-1), { msg: 'ended' })
  })
}

t.test('drain_delay: /readyz fails at once, and all else continues until the delay ends', async (t) => {
  const service = await startService(t, 'one')
  const gateway = await OperatedGateway.start(t, { targets: [service.url], top: ['drain_delay: 3s'] })
  t.equal((await gateway.ready()).status, 200)
  const load = new Load({ port: gateway.port, rate: 200 })
  await load.more(100)
  gateway.signal('SIGTERM')
  await until(async () => (await gateway.ready()).status === 503)
  t.match((await gateway.ready()).body, { status: 'not_ready', draining: true })
  t.equal((await fetch(`http://127.0.0.1:${gateway.opsPort}/livez`)).status, 200)
  await load.more(100)
  t.equal(load.refused, 0, 'new connections are accepted')
  t.same(await gateway.ended, { code: 0, signal: null })
  await load.stop()
  t.same(load.failures, [])
})
