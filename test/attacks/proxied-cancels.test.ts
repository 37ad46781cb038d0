/**
 * A proxy that speaks HTTP/2 carries the requests of many clients on one connection. One of them cancels all that it asks: the
 * others keep the connection, and it is refused for some time.
 */

import type { ServerResponse } from 'node:http'
import t from 'tap'
import { CANCEL, ENHANCE_YOUR_CALM } from '../../src/http/wire/http2/http2-errors.ts'
import { GOAWAY, HEADERS, numberFrame, RST_STREAM } from '../../src/http/wire/http2/http2-frames.ts'
import { holdTime } from '../support/held-time.ts'
import { openRaw, startSecured } from '../http2/support.ts'
import { GET, type RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

/** More than a connection of one client may cancel. */
const CANCELS = 1100
const BATCH = 50
/** With another address of the same client. */
const ATTACKERS = [
  ['198.51.100.1', '198.51.100.1'],
  ['2001:db8:1::1', '2001:db8:1::2'],
] as const

const request = (
  client: RawHttp2,
  stream: number,
  path: string,
  from: string,
  ...fields: [string, string][]
) => client.headers(stream, [...GET.slice(0, 3), [':path', path], ['x-forwarded-for', from], ...fields])

async function world(t: Parameters<typeof startSecured>[0], top: string[]) {
  const held: ServerResponse[] = []
  const started = await startSecured(t, {
    top,
    answer: ({ url }, response) =>
      url === '/docs/held' ? void held.push(response) : void response.end('ok'),
  })
  const client = await openRaw(t, started.securePort)
  // Budgets refill with time.
  holdTime(t)
  return { held, client }
}

const sectionOf = (client: RawHttp2, stream: number) =>
  client.received.find((each) => each.type === HEADERS && each.stream === stream)?.fields

/** From stream `first` on. @returns the next stream */
async function cancelAll(client: RawHttp2, first: number, from: readonly string[]): Promise<number> {
  let stream = first
  for (let i = 0; i < CANCELS && !client.ended; stream += 2, i++) {
    request(client, stream, '/docs/a', from[i % from.length] ?? '')
    client.send(numberFrame(RST_STREAM, stream, CANCEL))
    if (i % BATCH === 0) await client.settled().catch(() => {})
  }
  await client.settled().catch(() => {})
  return stream
}

t.test('behind a trusted proxy', async (t) => {
  const { client, held } = await world(t, ['trusted_proxies: [127.0.0.0/8]'])
  for (let stream = 1; stream < 40; stream += 2) request(client, stream, '/docs/held', `203.0.113.${stream}`)
  await until(() => held.length === 20, 'the requests of others')
  let stream = 41
  for (const [attacker, sameClient] of ATTACKERS) {
    stream = await cancelAll(client, stream, [attacker])
    request(client, stream, '/docs/a', sameClient)
    t.equal(await client.status(stream), 429)
    t.equal(sectionOf(client, stream)?.['retry-after'], '1')
    stream += 2
    request(client, stream, '/docs/a', attacker, ['content-type', 'application/grpc'])
    t.equal(await client.status(stream), 200)
    t.equal(sectionOf(client, stream)?.['grpc-status'], '8')
    stream += 2
  }
  request(client, stream, '/docs/a', '203.0.113.1')
  t.equal(await client.status(stream), 200)
  for (const response of held) response.end('ok')
  for (let each = 1; each < 40; each += 2) t.equal(await client.status(each), 200)
  t.equal(client.count(GOAWAY), 0)
})

t.test('clients that cancel few of their requests each are served', async (t) => {
  const { client } = await world(t, ['trusted_proxies: [127.0.0.0/8]'])
  const clients = Array.from({ length: 100 }, (_, i) => `198.51.100.${i}`)
  let stream = await cancelAll(client, 1, clients)
  for (const from of clients.slice(0, 10)) {
    request(client, stream, '/docs/a', from)
    t.equal(await client.status(stream), 200)
    stream += 2
  }
})

t.test('a client that names itself as a proxy is one client', async (t) => {
  const { client } = await world(t, ['trusted_proxies: [10.0.0.0/8]'])
  const ended = client.goAway()
  await cancelAll(client, 1, ['198.51.100.1', '198.51.100.2'])
  t.equal(await ended, ENHANCE_YOUR_CALM)
})
