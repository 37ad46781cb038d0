/** SIGTERM under load costs no request: what a connection was taken for is answered, whoever it comes from. */

import t from 'tap'
import { OperatedGateway } from './gateway.ts'
import { Load } from './load.ts'
import { startService } from './service.ts'
import { until } from '../runtime/workers/support.ts'

for (const workers of [1, 2]) {
  t.test(`${workers} processes: 500 requests a second, kept and fresh connections`, async (t) => {
    const service = await startService(t, 'one')
    const gateway = await OperatedGateway.start(t, { targets: [service.url], top: [`workers: ${workers}`] })
    // A connection that comes in the very moment in which the listener ends is reset by the kernel: they are few.
    const load = new Load({ port: gateway.port, rate: 500, fresh: 0.2 })
    await load.more(1000)
    gateway.signal('SIGTERM')
    t.same(await gateway.ended, { code: 0, signal: null })
    await load.stop()
    t.same(load.failures, [])
    t.ok(load.refused > 0, 'and then nobody listens')
    t.match(gateway.remarks.at(-1), { msg: 'ended' })
  })
}

t.test('drain_delay: /readyz says so at once, and everything else goes on until then', async (t) => {
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
  t.equal(load.refused, 0, 'fresh connections are taken')
  t.same(await gateway.ended, { code: 0, signal: null })
  await load.stop()
  t.same(load.failures, [])
})
