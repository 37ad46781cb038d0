/** Idle kept connections stay open, need little memory, and work when they are used again. */

import t from 'tap'
import { type RawClient, sendHandshake, startWebSocketUpstream } from '../websocket/support.ts'
import { until } from '../runtime/workers/support.ts'
import { OperatedGateway } from './gateway.ts'
import { WireClient } from './wire-client.ts'

const CLIENTS = 2000
const WEB_SOCKETS = 1000
/** Maximum memory of the process in MiB. */
const MOST = 250

t.test('2,000 connections and 1,000 WebSockets', async (t) => {
  const { url } = await startWebSocketUpstream(t)
  // The first start compiles the code, which keeps 30 MiB.
  await OperatedGateway.start(t, { targets: [url] })
  // All of them have the same client address.
  const top = [`limits: { websockets_per_caller: ${WEB_SOCKETS} }`]
  const gateway = await OperatedGateway.start(t, { targets: [url], top })
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
  t.equal(await round(), CLIENTS, 'no connection was lost')
  const sockets: RawClient[] = []
  t.teardown(() => sockets.forEach(({ socket }) => socket.destroy()))
  for (let i = 0; i < WEB_SOCKETS; i += 50) {
    const some = Array.from({ length: 50 }, () => sendHandshake(gateway.port, '/docs/ws'))
    sockets.push(...(await Promise.all(some.map((client) => client.opened()))))
  }
  await Promise.all(sockets.map((client, i) => client.sendText(`${i}`).receives(`${i}`)))
  const all = gateway.rss()
  t.ok(all < MOST, `${all.toFixed(0)} MiB with the WebSockets`)
  t.equal(await round(), CLIENTS, 'the other connections are still open')
  t.ok(sockets.every(({ closed }) => !closed))
  t.comment(
    `${before.toFixed(0)} MiB, ${held.toFixed(0)} with 2,000 idle, ${all.toFixed(0)} with 1,000 WebSockets too`,
  )
})
