/** Which spans of servers are errors, and what they say about the two ends. */

import t, { type Test } from 'tap'
import { nginxFields, startAsking } from '../../external-authorization/support.ts'
import { seatForAll, startGrpcWorld } from '../../grpc/world.ts'
import { startWorld } from '../../support/world.ts'
import { type ReceivedSpan, type Receiver, startReceiver } from './receiver.ts'

const SERVER = 2
const ERROR = 2

async function collector(t: Test): Promise<{ receiver: Receiver; env: Record<string, string> }> {
  const receiver = await startReceiver(t)
  return { receiver, env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '1' } }
}

const spanWhere = (receiver: Receiver, holds: (span: ReceivedSpan) => boolean) =>
  receiver.spanWhere((span) => span.kind === SERVER && holds(span))

t.test('calls of gRPC: the names of their statuses, of which some are errors', async (t) => {
  const { receiver, env } = await collector(t)
  const { world, talk, caller } = await startGrpcWorld(t, { env })
  const rpc = (code: string) => (span: ReceivedSpan) => span.attributes['rpc.response.status_code'] === code
  const client = await caller(await seatForAll(world))
  t.equal((await client.unary('a')).status.code, 0)
  t.match(await spanWhere(receiver, rpc('OK')), { status: 0, attributes: { 'rpc.system.name': 'grpc' } })
  t.equal((await (await caller(null)).unary('a')).status.code, 16)
  t.equal((await spanWhere(receiver, rpc('UNAUTHENTICATED'))).status, 0, 'a fault of the client')
  talk.server.forceShutdown()
  t.equal((await client.unary('a')).status.code, 14)
  t.match(await spanWhere(receiver, rpc('UNAVAILABLE')), {
    status: ERROR,
    attributes: { 'error.type': /^upstream_/, 'http.response.status_code': 200 },
  })
})

t.test('a response that the upstream does not end', async (t) => {
  const { receiver, env } = await collector(t)
  const world = await startWorld(t, {
    env,
    answer: (request, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('half', () => request.socket.destroy())
    },
  })
  await t.rejects(world.client.send('GET', '/docs/a'))
  const span = await spanWhere(receiver, ({ attributes }) => attributes['url.path'] === '/docs/a')
  t.match(span, {
    status: ERROR,
    attributes: { 'http.response.status_code': 200, 'error.type': /^upstream_/ },
  })
})

t.test('an IPv6 host is without brackets', async (t) => {
  const { receiver, env } = await collector(t)
  const world = await startWorld(t, { env })
  await world.client.send('GET', '/docs/a', { host: '[::1]:8443' })
  const span = await spanWhere(receiver, ({ attributes }) => attributes['url.path'] === '/docs/a')
  t.match(span.attributes, { 'server.address': '::1', 'server.port': 8443 })
  const [batch] = receiver.batches
  t.match(batch?.resource, {
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'seatgate',
    'telemetry.sdk.version': String,
  })
})

t.test('the client of a question is the one that the proxy names', async (t) => {
  const { receiver, env } = await collector(t)
  const asking = await startAsking(t, { env, top: ['trusted_proxies: [127.0.0.1]'] })
  await asking.ask('/auth/nginx', {
    ...nginxFields('GET', '/docs/a'),
    'x-forwarded-for': '192.0.2.7',
    'x-real-ip': '192.0.2.7',
  })
  const span = await spanWhere(receiver, ({ attributes }) => attributes['url.path'] === '/docs/a')
  const line = asking.world.log().find(({ path }) => path === '/docs/a')
  t.equal(span.attributes['client.address'], line?.['client'] ?? undefined)
  t.equal(span.attributes['network.peer.address'], '127.0.0.1')
})
