/**
 * The window of a client's connection: responses that the client does not read took all of it, and no other response of the
 * connection began. A proxy that carries the requests of many clients returns it as they read.
 */

import type { ServerResponse } from 'node:http'
import t from 'tap'
import { DATA, HEADERS } from '../../src/http/wire/http2/http2-frames.ts'
import { front, serve } from '../proxy/support.ts'
import { GET, RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

const FULL = 65_535

t.test('responses that are not read leave room for others', async (t) => {
  const large: ServerResponse[] = []
  const port = await serve(t, ({ url }, response) => {
    if (url !== '/large') return void response.end(Buffer.alloc(100))
    // Both streams are open when the first response arrives.
    if (large.push(response) === 2) for (const each of large) each.end(Buffer.alloc(1_000_000))
  })
  const { port: gatewayPort } = await front(t, port, { http2: true })
  const client = RawHttp2.plain(gatewayPort)
  t.teardown(() => client.socket.destroy())
  const at = (path: string) => GET.map(([name, value]) => [name, name === ':path' ? path : value] as const)
  const bytes = (stream: number) =>
    client.received
      .filter((each) => each.type === DATA && each.stream === stream)
      .reduce((sum, { payload }) => sum + payload.length, 0)
  for (const stream of [1, 3]) client.headers(stream, at('/large'))
  await until(() => bytes(1) > 0 && bytes(3) > 0, 'both responses')
  client.headers(5, at('/small'))
  await until(() => bytes(5) === 100, 'the third response')
  t.ok(bytes(1) + bytes(3) < FULL - 100)
  t.equal(client.count(HEADERS), 3)
})

t.test('a response that is alone gets the whole window', async (t) => {
  const port = await serve(t, (_, response) => response.end(Buffer.alloc(1_000_000)))
  const { port: gatewayPort } = await front(t, port, { http2: true })
  const client = RawHttp2.plain(gatewayPort)
  t.teardown(() => client.socket.destroy())
  client.headers(1)
  const bytes = () =>
    client.received.filter(({ type }) => type === DATA).reduce((sum, { payload }) => sum + payload.length, 0)
  await until(() => bytes() === FULL, 'the whole window')
})
