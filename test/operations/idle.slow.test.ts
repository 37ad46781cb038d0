/** Idle kept connections stay open, and work when they are used again. */

import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { sendHandshake, startWebSocketUpstream, type WebSocketClient } from '../websocket/support.ts'
import { openFilesOf } from './process-status.ts'
import { WireClient } from './wire-client.ts'

const CLIENTS = 500
const WEB_SOCKETS = 200

t.test('500 connections and 200 WebSockets', async (t) => {
  const { url } = await startWebSocketUpstream(t)
  // All of them have the same client address.
  const top = [`limits: { websockets_per_caller: ${WEB_SOCKETS} }`]
  const gateway = await startGatewayProcess(t, { target: url, top })
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
  t.equal(await round(), CLIENTS)
  const idle = () => gateway.metric('seatgate_connections{state="idle"}')
  await until(async () => (await idle()) === CLIENTS, `${CLIENTS} idle connections`)
  t.ok(openFilesOf(gateway.pid) >= CLIENTS)
  t.equal(await round(), CLIENTS, 'no connection was lost')
  const sockets: WebSocketClient[] = []
  t.teardown(() => sockets.forEach(({ socket }) => socket.destroy()))
  for (let i = 0; i < WEB_SOCKETS; i += 50) {
    const some = Array.from({ length: 50 }, () => sendHandshake(gateway.port, '/docs/ws'))
    sockets.push(...(await Promise.all(some.map((client) => client.opened()))))
  }
  await Promise.all(sockets.map((client, i) => client.sendText(`${i}`).receives(`${i}`)))
  t.equal(await round(), CLIENTS, 'the other connections are still open')
  t.ok(sockets.every(({ closed }) => !closed))
})
