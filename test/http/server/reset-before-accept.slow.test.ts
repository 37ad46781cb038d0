/** Connections that clients have reset before a frozen gateway accepts them are no refusals of peers, on any listener. */

import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { roundTrip } from '../../support/raw-client.ts'

const CONNECTIONS = 30

t.test('on the decision listener and behind a proxy that names its clients', async (t) => {
  const gateway = await startGatewayProcess(t, {
    top: [
      'decision: { listen: 127.0.0.1:0, clients: [127.0.0.1] }',
      'trusted_proxies: [127.0.0.1]',
      'proxy_protocol: true',
    ],
  })
  const portOf = (listener: string) =>
    Number(
      /:(\d+) /.exec(String(gateway.lines().find((line) => line['listener'] === listener)?.['msg']))?.[1],
    )
  const ports = [portOf('front'), portOf('decision')]
  await gateway.freeze()
  await Promise.all(
    ports.flatMap((port) =>
      Array.from({ length: CONNECTIONS }, async () => {
        const socket = connect(port, '127.0.0.1')
        await once(socket, 'connect')
        socket.resetAndDestroy()
        await once(socket, 'close')
      }),
    ),
  )
  gateway.thaw()
  // Connections that are accepted after them: each listener has then seen those before.
  for (const [port, head] of [
    [ports[0], 'PROXY TCP4 127.0.0.1 127.0.0.1 1 1\r\n'],
    [ports[1], ''],
  ] as const)
    t.match(
      await roundTrip(port ?? 0, `${head}GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
      '404',
    )
  t.equal((await gateway.end()) ?? 0, 0)
  t.notMatch(gateway.log, 'peer_refused')
  t.notMatch(gateway.log, 'is not in trusted_proxies')
})
