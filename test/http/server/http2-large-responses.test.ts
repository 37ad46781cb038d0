/** A section of a response that a proxy of many clients does not accept: it ends its stream alone. */

import t, { type Test } from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../../src/http/server/client-request.ts'
import { INTERNAL_ERROR } from '../../../src/http/wire/http2/http2-errors.ts'
import {
  DATA,
  GOAWAY,
  numberFrame,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../../src/http/wire/http2/http2-frames.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { openListener } from '../../support/listener.ts'
import { GET, RawHttp2 } from '../../support/raw-http2.ts'

const LARGE = 'v'.repeat(15 * 1024)

/** `/head` and `/trailers` are large, any other response is not. A call that throws breaks the response off, as in the proxy. */
function answer(request: ClientRequest, response: Exchange['response']): Exchange {
  const exchange = new Exchange(request, response, 'id', 0)
  try {
    response.writeHead(
      200,
      ResponseFields.of(request.url === '/head' ? ['X-Large', LARGE] : ['X-Small', 'v']),
    )
    response.write('body')
    response.end('', request.url === '/trailers' ? ['x-large', LARGE] : ['x-small', 'v'])
  } catch {
    response.destroy()
  }
  return exchange
}

async function connected(t: Test, trusted: boolean): Promise<RawHttp2> {
  const listener = await openListener(
    answer,
    {},
    { settings: { priorKnowledge: true, trusts: () => trusted } },
  )
  t.teardown(() => listener.close(0))
  const client = RawHttp2.plain(listener.address.port)
  t.teardown(() => client.socket.destroy())
  return client
}

const ask = (client: RawHttp2, stream: number, path: string) =>
  client.headers(stream, [...GET.slice(0, 3), [':path', path]])

for (const path of ['/head', '/trailers'])
  t.test(path, async (t) => {
    const client = await connected(t, true)
    t.equal(await ask(client, 1, path).reset(1), INTERNAL_ERROR)
    t.equal(await ask(client, 3, '/small').status(3), 200)
    t.equal(client.count(GOAWAY), 0)
  })

t.test('trailers that wait for a window', async (t) => {
  const client = await connected(t, true)
  client.frame(SETTINGS, 0, 0, [0, 4, 0, 0, 0, 0])
  await client.settled()
  ask(client, 1, '/trailers')
  ask(client, 3, '/small')
  t.equal(await client.status(3), 200)
  t.equal(client.count(DATA), 0)
  client.send(numberFrame(WINDOW_UPDATE, 1, 100), numberFrame(WINDOW_UPDATE, 3, 100))
  t.equal(await client.reset(1), INTERNAL_ERROR)
  await client.next(({ type, stream }) => type === DATA && stream === 3)
  await client.settled()
  t.equal(client.count(GOAWAY), 0)
})

t.test('a client gets what it asks for', async (t) => {
  const client = await connected(t, false)
  t.equal(await ask(client, 1, '/head').status(1), 200)
})

t.test('a proxy that announces a larger limit gets it too', async (t) => {
  const client = await connected(t, true)
  client.frame(SETTINGS, 0, 0, [0, 6, 0, 1, 0, 0])
  await client.settled()
  t.equal(await ask(client, 1, '/head').status(1), 200)
})
