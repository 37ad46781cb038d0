/** The spans of requests, as a collector receives them. */

import type { RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { RawClient } from '../../support/raw-client.ts'
import { startUpstream, startWorld, type World, type WorldOptions } from '../../support/world.ts'
import { type ReceivedSpan, type Receiver, startReceiver } from './receiver.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const PARENT = `00-${TRACE}-${SPAN}-01`
const SERVER = 2
const CLIENT = 3
const ERROR = 2

/** A gateway that exports each span at once. */
async function traced(
  t: Test,
  options: WorldOptions = {},
  receiver?: Receiver,
): Promise<{ world: World; receiver: Receiver }> {
  const collector = receiver ?? (await startReceiver(t))
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '1',
    ...options.env,
  }
  return { world: await startWorld(t, { ...options, env }), receiver: collector }
}

const TRUSTING = { top: ['trusted_proxies: [127.0.0.1]'] }

function of(spans: readonly ReceivedSpan[], kind: number): ReceivedSpan {
  const found = spans.find((span) => span.kind === kind)
  if (found === undefined) throw new Error(`no span of kind ${kind}`)
  return found
}

t.test('a forwarded request: its span, and that of its attempt', async (t) => {
  const { world, receiver } = await traced(t)
  await world.seat('Viewer', ['main'], ['trainings:read'])
  const before = (await receiver.atLeast(1)).length
  const authorization = `Bearer ${await world.token(['main:Viewer'])}`
  const started = BigInt(Date.now() - 1) * 1_000_000n
  await world.client.send('GET', '/v1/trainings/7?key=secret-query', {
    authorization,
    space: 'main',
    'user-agent': 'curl/8.1',
    cookie: 'a=secret-cookie',
  })
  const spans = (await receiver.atLeast(before + 2)).slice(before)
  const [server, client] = [of(spans, SERVER), of(spans, CLIENT)]
  t.equal(server.name, 'GET /v1/trainings/{id}')
  const { origin, port } = new URL(world.upstream.url)
  t.match(server.attributes, {
    'http.request.method': 'GET',
    'url.path': '/v1/trainings/7',
    'url.scheme': 'http',
    'http.route': '/v1/trainings/{id}',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': world.port,
    'client.address': '127.0.0.1',
    'network.protocol.version': '1.1',
    'user_agent.original': 'curl/8.1',
    'seatgate.decision': 'allow',
    'seatgate.tenant': 'acme',
    'seatgate.upstream': 'main',
    'seatgate.request_id': world.upstream.seen.at(-1)?.headers['x-request-id'],
  })
  t.equal(server.status, 0)
  t.same([server.parentSpanId, server.links, server.flags], ['', [], 0x101])
  t.equal(client.name, 'GET')
  t.match(client.attributes, {
    'http.request.method': 'GET',
    'server.address': '127.0.0.1',
    'server.port': Number(port),
    'url.full': `${origin}/v1/trainings/7`,
    'http.response.status_code': 200,
  })
  t.notOk('http.request.resend_count' in client.attributes)
  t.equal(client.traceId, server.traceId)
  t.equal(client.parentSpanId, server.spanId)
  t.equal(world.upstream.seen.at(-1)?.headers['traceparent'], `00-${client.traceId}-${client.spanId}-01`)
  t.ok(started <= server.start && server.start <= client.start && client.start <= client.end)
  t.ok(client.end <= server.end && server.end <= BigInt(Date.now() + 1) * 1_000_000n)
  const lines = world.log().filter(({ path }) => path === '/v1/trainings/7')
  t.match(lines, [{ trace_id: server.traceId }])
  const batch = receiver.batches.at(-1)
  t.match(batch, { path: '/v1/traces', resource: { 'service.name': 'seatgate' } })
  t.equal(batch?.headers['content-type'], 'application/x-protobuf')
  t.notMatch(
    JSON.stringify(spans, (_, each) => (typeof each === 'bigint' ? `${each}` : each)),
    'secret',
  )
})

t.test('a trusted proxy continues its trace', async (t) => {
  const { world, receiver } = await traced(t, TRUSTING)
  const state = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'
  await world.client.send('GET', '/docs/a', { traceparent: PARENT, tracestate: state })
  const spans = await receiver.atLeast(2)
  const [server, client] = [of(spans, SERVER), of(spans, CLIENT)]
  t.match(server, { traceId: TRACE, parentSpanId: SPAN, links: [], flags: 0x301, traceState: state })
  t.match(client, { traceId: TRACE, parentSpanId: server.spanId, flags: 0x101 })
  t.match(world.upstream.seen[0]?.headers, {
    traceparent: `00-${TRACE}-${client.spanId}-01`,
    tracestate: state,
  })
})

t.test('the trace of any other client is linked, and decides nothing', async (t) => {
  const { world, receiver } = await traced(t)
  await world.client.send('GET', '/docs/a', { traceparent: PARENT, tracestate: 'rojo=1' })
  await world.client.send('GET', '/docs/b', { traceparent: PARENT.replace(/01$/, '00') })
  const servers = (await receiver.atLeast(4)).filter(({ kind }) => kind === SERVER)
  for (const [at, server] of servers.entries()) {
    t.not(server.traceId, TRACE)
    t.equal(server.parentSpanId, '')
    t.same(server.links, [{ traceId: TRACE, spanId: SPAN, flags: at === 0 ? 0x301 : 0x300 }])
    t.notOk(world.upstream.seen[at]?.headers['tracestate'])
    t.notMatch(world.upstream.seen[at]?.headers['traceparent'], TRACE)
  }
  t.equal(servers.length, 2)
})

t.test('a malformed or repeated traceparent is no trace, also of a trusted proxy', async (t) => {
  const { world, receiver } = await traced(t, TRUSTING)
  const fields = [
    { traceparent: `ff-${TRACE}-${SPAN}-01` },
    { traceparent: PARENT.toUpperCase() },
    { traceparent: [PARENT, PARENT] },
    { trace_parent: PARENT },
  ]
  for (const each of fields)
    await world.client.send('GET', '/docs/a', { ...each, tracestate: 'rojo=1' } as never)
  const servers = (await receiver.atLeast(8)).filter(({ kind }) => kind === SERVER)
  t.equal(servers.length, 4)
  for (const [at, server] of servers.entries()) {
    t.not(server.traceId, TRACE)
    t.same([server.parentSpanId, server.links], ['', []])
    const { rawHeaders = [], headers = {} } = world.upstream.seen[at] ?? {}
    t.equal(rawHeaders.filter((name) => name.toLowerCase() === 'traceparent').length, 1)
    t.match(headers, { traceparent: server.traceId })
    t.notOk('tracestate' in headers, 'the data of an unknown trace')
  }
})

t.test('Connection cannot take the gateway’s traceparent away', async (t) => {
  const { world, receiver } = await traced(t)
  await world.client.send('GET', '/docs/a', { connection: 'keep-alive, traceparent', traceparent: PARENT })
  const client = of(await receiver.atLeast(2), CLIENT)
  t.equal(world.upstream.seen[0]?.headers['traceparent'], `00-${client.traceId}-${client.spanId}-01`)
})

t.test('refusals, unknown methods and routes', async (t) => {
  const { world, receiver } = await traced(t, { top: ['methods: [BAN]'] })
  await world.client.send('GET', '/v1/me')
  await world.client.send('BAN', '/v1/me')
  await world.client.send('GET', '/nowhere/4711')
  const [refused, method, nowhere] = await receiver.atLeast(3)
  t.match(refused, { name: 'GET /v1/me', status: 0 })
  t.match(refused?.attributes, {
    'http.response.status_code': 401,
    'seatgate.decision': 'credentials_missing',
  })
  t.notOk('error.type' in (refused?.attributes ?? {}))
  t.notOk('seatgate.tenant' in (refused?.attributes ?? {}))
  t.equal(method?.name, 'HTTP')
  t.match(method?.attributes, { 'http.request.method': '_OTHER', 'http.request.method_original': 'BAN' })
  t.equal(nowhere?.name, 'GET')
  t.match(nowhere?.attributes, { 'url.path': '/nowhere/4711', 'http.response.status_code': 404 })
})

t.test('answers with errors of an upstream', async (t) => {
  const { world, receiver } = await traced(t, {
    answer: (request, response) => {
      response.statusCode = Number(request.url?.slice('/docs/'.length))
      response.end()
    },
  })
  await world.client.send('GET', '/docs/404')
  const first = await receiver.atLeast(2)
  t.equal(of(first, SERVER).status, 0)
  t.match(of(first, CLIENT), { status: ERROR, attributes: { 'error.type': '404' } })
  await world.client.send('GET', '/docs/500')
  const second = (await receiver.atLeast(4)).slice(2)
  t.match(of(second, SERVER), { status: ERROR, attributes: { 'error.type': '500' } })
  t.match(of(second, CLIENT), { status: ERROR, attributes: { 'error.type': '500' } })
})

t.test('each attempt has a span and a traceparent of its own', async (t) => {
  const seen: unknown[] = []
  const answer: RequestListener = (request, response) => {
    if (seen.push(request.headers['traceparent']) === 1) request.socket.destroy()
    else response.end()
  }
  const [one, two] = [await startUpstream(t, answer), await startUpstream(t, answer)]
  const { world, receiver } = await traced(t, { target: [one.url, two.url] })
  t.equal((await world.client.send('GET', '/docs/a')).status, 200)
  const clients = (await receiver.atLeast(3)).filter(({ kind }) => kind === CLIENT)
  t.same(
    clients.map(({ status, attributes }) => [status, attributes['http.request.resend_count']]),
    [
      [ERROR, undefined],
      [0, 1],
    ],
  )
  t.match(clients[0]?.attributes['error.type'], /^[A-Za-z_]+$/)
  t.same(
    new Set(clients.map(({ attributes }) => attributes['server.port'])),
    new Set([one, two].map(({ url }) => Number(new URL(url).port))),
  )
  t.same(
    seen,
    clients.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
  )
})

t.test('an unreachable upstream', async (t) => {
  const { world, receiver } = await traced(t, { target: 'http://127.0.0.1:1' })
  const answer = await world.client.send('GET', '/docs/a')
  t.ok(answer.status >= 500)
  const server = await receiver.spanWhere(({ kind }) => kind === SERVER)
  t.match(server, { status: ERROR, attributes: { 'error.type': 'upstream_unreachable' } })
  t.match(of(receiver.spans, CLIENT), { status: ERROR, attributes: { 'error.type': 'ECONNREFUSED' } })
})

t.test('sampling: none, and the word of a trusted parent', async (t) => {
  const off = { OTEL_TRACES_SAMPLER: 'parentbased_always_off' }
  const { world, receiver } = await traced(t, { ...TRUSTING, env: off })
  await world.client.send('GET', '/docs/a')
  const [, traceId] =
    /^00-(\w{32})-\w{16}-00$/.exec(String(world.upstream.seen[0]?.headers['traceparent'])) ?? []
  t.ok(traceId, 'the upstream learns that the trace is not sampled')
  await world.client.send('GET', '/docs/b', { traceparent: PARENT })
  const spans = await receiver.atLeast(2)
  t.ok(spans.every((span) => span.traceId === TRACE))
  const lines = world.log().filter(({ msg }) => msg === 'request')
  t.same(
    lines.map((line) => line['trace_id']),
    [traceId, TRACE],
    'sampled or not, the log line has the trace',
  )
})

t.test('a client cannot make the gateway sample', async (t) => {
  const { world, receiver } = await traced(t, {
    top: ['trusted_proxies: [127.0.0.2]'],
    env: { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
  })
  await world.client.send('GET', '/docs/a', { traceparent: PARENT })
  t.match(world.upstream.seen[0]?.headers['traceparent'], /-00$/)
  // The spans of a later request arrive after any of the first.
  const proxy = new RawClient(world.port, { from: '127.0.0.2' })
  const lines = ['GET /docs/b HTTP/1.1', 'Host: a', `traceparent: ${PARENT}`, 'Connection: close', '', '']
  await proxy.send(lines.join('\r\n')).ended
  await receiver.spanWhere(({ attributes }) => attributes['url.path'] === '/docs/b')
  t.equal(receiver.spans.length, 2)
})

t.test('without propagation, traceparent passes as any header', async (t) => {
  const { world, receiver } = await traced(t, { ...TRUSTING, env: { OTEL_PROPAGATORS: 'none' } })
  await world.client.send('GET', '/docs/a', { traceparent: PARENT })
  const server = of(await receiver.atLeast(2), SERVER)
  t.not(server.traceId, TRACE)
  t.equal(world.upstream.seen[0]?.headers['traceparent'], PARENT)
})

t.test('gzip, headers, resource and a path of its own', async (t) => {
  const receiver = await startReceiver(t)
  const env = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/otel?tenant=1`,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%20b,authorization=Basic%20eA==',
    OTEL_SERVICE_NAME: 'edge',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=caf%C3%A9',
  }
  const { world } = await traced(t, { env }, receiver)
  await world.client.send('GET', '/docs/a', { 'user-agent': 'é"\\' })
  const spans = await receiver.atLeast(2)
  t.match(of(spans, SERVER), { name: 'GET /docs/*', kind: SERVER, flags: 0x101 })
  t.equal(of(spans, CLIENT).parentSpanId, of(spans, SERVER).spanId)
  t.match(receiver.batches[0], {
    path: '/otel?tenant=1',
    headers: { 'content-encoding': 'gzip', 'x-key': 'a b', authorization: 'Basic eA==' },
    resource: { 'service.name': 'edge', 'deployment.environment.name': 'café' },
  })
})

t.test('a reload may begin, change and end tracing', async (t) => {
  const { world, receiver } = await traced(t, { env: { OTEL_SDK_DISABLED: 'true' } })
  await world.client.send('GET', '/docs/a', { traceparent: PARENT })
  t.equal(world.upstream.seen[0]?.headers['traceparent'], PARENT)
  await world.reload({ OTEL_SDK_DISABLED: '' })
  await world.client.send('GET', '/docs/b')
  t.match(of(await receiver.atLeast(2), SERVER).attributes, { 'url.path': '/docs/b' })
  await world.reload({ OTEL_SDK_DISABLED: 'true' })
  await world.client.send('GET', '/docs/c', { traceparent: PARENT })
  t.equal(world.upstream.seen.at(-1)?.headers['traceparent'], PARENT)
})
