/** A target that is gone without a trace: a PING finds out, long before TCP does. */

import t from 'tap'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { get } from '../../proxy/support.ts'
import { answer, PING, serveFrames } from '../../proxy/http2/raw.ts'
import { front2 } from '../../proxy/http2/support.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'

t.test('the connection is given up, and the next request takes another one', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    if (connection !== connections[0]) connection.send(answer(stream))
  })
  const { port: gatewayPort, exchanges } = await front2(t, port, { responseTimeout: 120_000 })
  const time = holdTime(t)
  const client = new RawClient(gatewayPort).send(get())
  await untilStepped(time, () => client.finished)
  t.match(client.received, /^HTTP\/1\.1 502 /)
  t.match(exchanges[0]?.cause, { code: 'UPSTREAM_SILENT' })
  t.equal(connections[0]?.count(PING), 1)
  t.match(await roundTrip(gatewayPort, get()), /good/)
})
