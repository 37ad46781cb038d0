/** Connections that are kept and do nothing: they are held, cost little, and are there when they are needed again. */

import t from 'tap'
import { until } from '../workers/support.ts'
import { OperatedGateway } from './gateway.ts'
import { startService } from './service.ts'
import { WireClient } from './wire-client.ts'

const CLIENTS = 2000
/** MiB, all of the process. */
const MOST = 250

t.test('2,000 of them', async (t) => {
  const { url } = await startService(t, 'main', (_request, response) => response.end('ok'))
  const gateway = await OperatedGateway.start(t, { targets: [url] })
  const clients = Array.from({ length: CLIENTS }, () => new WireClient(gateway.port, true))
  t.teardown(() => clients.forEach((client) => client.close()))
  const round = async () => {
    let well = 0
    for (let i = 0; i < CLIENTS; i += 100) {
      const outcomes = await Promise.all(
        clients.slice(i, i + 100).map((client) => client.send('GET', '/docs/a')),
      )
      well += outcomes.filter((outcome) => outcome.kind === 'answer' && outcome.status === 200).length
    }
    return well
  }
  const before = gateway.rss()
  t.equal(await round(), CLIENTS)
  await until(async () => (await gateway.metric('seatgate_connections{state="idle"}')) === CLIENTS)
  const held = gateway.rss()
  t.ok(held < MOST, `${held.toFixed(0)} MiB, ${before.toFixed(0)} before`)
  t.ok(gateway.files >= CLIENTS)
  t.equal(await round(), CLIENTS, 'none of them was lost')
  t.ok(gateway.rss('VmHWM') < MOST, `${gateway.rss('VmHWM').toFixed(0)} MiB at its most`)
})
