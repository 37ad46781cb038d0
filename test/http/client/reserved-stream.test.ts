/** A request with a body on an idle connection of HTTP/2 is written after pending events; it may end before. */

import { setImmediate as turn } from 'node:timers/promises'
import { Readable } from 'node:stream'
import t from 'tap'
import { Http2Connection } from '../../../src/http/client/http2-client-connection.ts'
import { Evicted, type ResponseReceiver } from '../../../src/http/client/upstream-request.ts'
import { answer, HEADERS, serveFrames } from '../../proxy/http2/raw.ts'
import { until } from '../../support/until.ts'

/** Notes what it is told. */
class Receiver implements ResponseReceiver {
  readonly owner = ['acme', 'alice'] as const
  readonly calls: string[] = []

  connected(): boolean {
    return this.calls.push('connected') > 0
  }
  requestProgress(): void {}
  responseStarted(): void {}
  head(): void {}
  data(): void {}
  ended(): void {
    this.calls.push('ended')
  }
  failed({ message }: Error): void {
    this.calls.push(message)
  }
}

t.test('one that is evicted before is not written, and fails once', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => connection.send(answer(stream)))
  let [ready, uploads] = [0, 1]
  const connection = new Http2Connection(
    {
      host: '127.0.0.1',
      port,
      tls: null,
      authority: `127.0.0.1:${port}`,
      connectTimeout: 60_000,
      bodyTimeout: 60_000,
      keepAlive: 60_000,
      keepAliveMax: 60_000,
    },
    {
      connectionReady: () => void ready++,
      connectionDraining() {},
      connectionClosed() {},
      requestReturned: () => t.fail('it is returned'),
      uploadFinished: () => void uploads--,
    },
  )
  t.teardown(() => connection.close(new Error('the test is over')))
  await until(() => ready > 0, 'the connection')
  const get = { method: 'GET', path: '/', headers: [], host: null, body: null, length: null }
  const first = new Receiver()
  connection.send(get, first, false)
  await until(() => first.calls.includes('ended'), 'the first response')

  const evicted = new Receiver()
  const body = Readable.from([Buffer.from('a body')])
  connection.send({ ...get, method: 'POST', body, length: 6 }, evicted, true)
  const [stream] = connection.slots
  stream?.close(new Evicted())
  await turn()
  t.same(evicted.calls, [new Evicted().message])
  t.equal(uploads, 0)

  const next = new Receiver()
  connection.send(get, next, false)
  await until(() => next.calls.includes('ended'), 'the next response')
  t.equal(connections[0]?.count(HEADERS), 2, 'the evicted request is not at the target')
  t.equal(connection.slots.size, 0)
})
