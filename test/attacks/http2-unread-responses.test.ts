/** Clients that send requests and read no response: what waits for them is bounded. Clients that read are not refused. */

import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { Exchange } from '../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { END_STREAM, HEADERS, RST_STREAM } from '../../src/http/wire/http2/http2-frames.ts'
import { acceptor, authority, certificate, openSecured } from '../http/server/tls-support.ts'
import { openListener } from '../support/listener.ts'
import { GET, RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

const a = certificate(['a.example'])
const HEAD = [[':method', 'HEAD'], ...GET.slice(1)] as const
const STREAMS = 8
const limits = { http2Streams: STREAMS }

/**
 * Answers with header sections of this size alone, each with another value, and counts the exchanges: all, and those in flight.
 *
 * @param answer calls it in a later stage, as the pipeline does
 */
function headsOf(bytes: number, answer: (respond: () => void) => unknown = setImmediate) {
  const count = { all: 0, inFlight: 0, most: 0 }
  const handle = (request: ClientRequest, response: Exchange['response']) => {
    count.all++
    count.most = Math.max(count.most, ++count.inFlight)
    response.listen({ closed: () => count.inFlight-- })
    answer(() => {
      if (response.destroyed) return
      response.writeHead(200, ResponseFields.of(['X-Large', randomBytes(bytes / 2).toString('hex')]))
      response.end()
    })
    return new Exchange(request, response, 'id', 0)
  }
  return { count, handle }
}

t.test('requests whose responses are never read: as many wait as the limit of streams permits', async (t) => {
  const { count, handle } = headsOf(8000)
  const { port, listener } = await openSecured(t, acceptor([a], {}, true), { handle, limits })
  const client = await openPaused(t, port)
  const isOpen = () => sum(listener.connections) > 0
  for (let i = 0; i < 20_000 && isOpen(); i++) {
    const { all } = count
    client.headers(2 * i + 1, HEAD)
    // A request that is refused is not seen.
    for (let turns = 0; turns < 100 && count.all === all; turns++)
      await new Promise((resolve) => setImmediate(resolve))
  }
  t.notOk(isOpen(), 'the connection is closed')
  t.ok(count.most <= 5 * STREAMS, `${count.most} at once`)
  client.socket.destroy()
  await until(() => count.inFlight === 0, 'the end of the exchanges')
})

t.test('responses without a body that are not read count as buffered bytes', async (t) => {
  const waiting: (() => void)[] = []
  const { count, handle } = headsOf(400_000, (respond) => waiting.push(respond))
  const { port, listener } = await openSecured(t, acceptor([a], {}, true), { handle, limits })
  const client = await openPaused(t, port)
  let next = 1
  const ask = async (requests: number) => {
    client.socket.cork()
    for (let i = 0; i < requests; i++, next += 2) client.headers(next, HEAD)
    client.socket.uncork()
    await until(() => waiting.length === requests, 'the requests')
    for (const respond of waiting.splice(0)) respond()
  }
  // The operating system accepts the first ones.
  while (count.inFlight < 2) await ask(1)
  // Nothing is received behind these.
  await ask(STREAMS)
  t.ok(count.inFlight >= STREAMS)
  await until(() => listener.memory > (count.inFlight - 1) * 400_000, 'the bytes of all responses')
  client.socket.destroy()
  await until(() => listener.memory === 0, 'the release of the memory')
})

const sum = ({ opening, active, idle }: { opening: number; active: number; idle: number }) =>
  opening + active + idle

/** It reads nothing of what follows its settings. */
async function openPaused(t: Test, port: number): Promise<RawHttp2> {
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  await client.settled()
  client.socket.pause()
  return client
}

t.test('a client that always has as many requests in flight as it may is never refused', async (t) => {
  const { handle } = headsOf(15_000)
  const secured = await openSecured(t, acceptor([a], {}, true), { handle })
  const plain = await openListener(handle, {}, { settings: { priorKnowledge: true } })
  t.teardown(() => plain.close(0))
  await t.test('over TLS', async (t) => keepsBusy(t, await RawHttp2.open(secured.port, authority.cert)))
  await t.test('without TLS', (t) => keepsBusy(t, RawHttp2.plain(plain.address.port)))
})

/** The limit of streams by default. */
const DEFAULT_STREAMS = 128

async function keepsBusy(t: Test, client: RawHttp2): Promise<void> {
  t.teardown(() => client.socket.destroy())
  let next = 1
  let refused = 0
  const ask = () => {
    client.headers(next, HEAD)
    next += 2
  }
  for (let i = 0; i < DEFAULT_STREAMS; i++) ask()
  for (let ended = 0; ended < 20 * DEFAULT_STREAMS && refused === 0;) {
    await client.next(() => true)
    for (const { type, flags } of client.received.splice(0)) {
      if (type === RST_STREAM) refused++
      if (type !== HEADERS || (flags & END_STREAM) === 0) continue
      ended++
      ask()
    }
  }
  t.equal(refused, 0)
}
