/**
 * Clients whose calls end early, on purpose or not: what is still under way for them does not end the connection that they
 * share with others.
 */

import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { get } from '../proxy/support.ts'
import { answer, data, frame, headers, number, RST_STREAM, serveFrames } from '../proxy/http2/raw.ts'
import { front2 } from '../proxy/http2/support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

t.test('a client leaves a response of many small frames', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    if (stream === 1) connection.send(headers(stream, [':status', '200']), data(stream, 'a'))
  })
  const { port: gatewayPort } = await front2(t, port)
  const leaving = new RawClient(gatewayPort).send(get())
  await leaving.until('a')
  const staying = new RawClient(gatewayPort).send(get())
  await until(() => connections[0]?.count(1) === 2, 'the second stream')
  leaving.socket.destroy()
  await until(() => connections[0]?.count(RST_STREAM) === 1, 'the reset of the stream')
  for (let i = 0; i < 20; i++)
    connections[0]?.send(Buffer.concat(Array.from({ length: 500 }, () => data(1, 'x'))))
  connections[0]?.send(answer(3))
  t.match(await staying.ended, /good/)
  t.equal(connections.length, 1)
  t.equal(connections[0]?.count(RST_STREAM), 1, 'once is enough')
})

t.test('a service that resets each stream after its response', async (t) => {
  // The budget of resets refills with time.
  holdTime(t)
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    connection.send(answer(stream), frame(RST_STREAM, 0, stream, number(0)))
  })
  const { port: gatewayPort } = await front2(t, port)
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  // More than that budget.
  for (let i = 0; i < 22; i++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => roundTrip(gatewayPort, post)))
    t.ok(answers.every((each) => each.includes('good')))
  }
  t.equal(connections.length, 1)
})
