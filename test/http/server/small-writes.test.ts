/** A response in the smallest parts, to a client that does not read: the gateway stops it before the parts take much memory. */

import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { DATA, frame, PREFACE, SETTINGS, WINDOW_UPDATE } from '../../../src/http/wire/http2/http2-frames.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { openListener } from '../../support/listener.ts'
import { RawHttp2 } from '../../support/raw-http2.ts'
import { standstill } from '../../proxy/support.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'

/** Parts that may wait. */
const MOST = 300
const EVENT = 'data: 1\n\n'
const LARGE = Buffer.alloc(16 * 1024, 'a')

const turn = () => new Promise(setImmediate)

/** A listener whose first request gets no response yet. */
async function open(t: Test) {
  const opened = Promise.withResolvers<Exchange>()
  const listener = await openListener(
    (request, response) => {
      const exchange = new Exchange(request, response, 'id', 0)
      opened.resolve(exchange)
      return exchange
    },
    {},
    { settings: { priorKnowledge: true } },
  )
  t.teardown(() => listener.close(0))
  return { listener, opened: opened.promise }
}

/** Writes events until the response accepts no more. @returns their number, and whether more are wanted again */
async function writeEvents({ request, response }: Exchange) {
  const state = { large: 0, events: 0, drained: false }
  response.writeHead(200, ResponseFields.of(['content-type', 'text/event-stream']))
  for (; (await standstill(() => request.socket.writableLength)) === 0; state.large++) {
    response.write(LARGE)
    await turn()
  }
  response.listen({ drained: () => (state.drained = true) })
  for (let accepts = true; accepts; state.events++) {
    accepts = response.write(Buffer.from(EVENT))
    await turn()
  }
  return state
}

t.test('over HTTP/1.1', async (t) => {
  const { listener, opened } = await open(t)
  const wire = new RawClient(listener.address.port)
  t.teardown(() => wire.close())
  wire.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const exchange = await opened
  const { response } = exchange
  wire.socket.pause()
  const state = await writeEvents(exchange)
  t.ok(state.events <= MOST, `${state.events} events wait`)
  t.ok(listener.memory >= 200 * state.events, `${listener.memory} bytes are counted`)
  wire.socket.resume()
  await until(() => state.drained, 'more are wanted')
  t.equal(listener.memory, 0, 'none waits')
  response.end()
  await wire.until('\r\n0\r\n\r\n')
  t.equal(wire.received.split(EVENT).length - 1, state.events)
})

t.test('over HTTP/2', async (t) => {
  const { listener, opened } = await open(t)
  const socket = connect(listener.address.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const wire = new RawHttp2(socket)
  const window = Buffer.alloc(6)
  window.writeUInt16BE(4)
  window.writeUInt32BE(2 ** 31 - 1, 2)
  const room = Buffer.alloc(4)
  room.writeUInt32BE(2 ** 30)
  wire.send(PREFACE, frame(SETTINGS, 0, 0, window), frame(WINDOW_UPDATE, 0, 0, room)).headers(1)
  const exchange = await opened
  const { response } = exchange
  await wire.settled()
  socket.pause()
  const state = await writeEvents(exchange)
  t.ok(state.events <= MOST, `${state.events} events wait`)
  t.ok(listener.memory >= 200 * state.events, `${listener.memory} bytes are counted`)
  socket.resume()
  await until(() => state.drained, 'more are wanted')
  response.end()
  await wire.next(({ type, flags }) => type === DATA && (flags & 1) !== 0)
  const text = Buffer.concat(wire.received.filter(({ type }) => type === DATA).map(({ payload }) => payload))
  t.equal(text.length, state.large * LARGE.length + state.events * EVENT.length)
})
