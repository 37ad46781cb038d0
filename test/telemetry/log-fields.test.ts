/** Fields of log lines that tell where a request came from and went, and the metrics beside them. */

import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { readLine } from '../../src/access/replay/logged-request.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'
import { metricsOf } from '../support/operations.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

const requests = (world: World) => world.log().filter(({ msg }) => msg === 'request')

/** The log line is written after the response. */
async function lineAfter(world: World, send: () => Promise<unknown>): Promise<Record<string, unknown>> {
  const before = requests(world).length
  await send()
  await until(() => requests(world).length > before, 'the line of the request')
  return requests(world).at(-1) ?? {}
}

async function sendRaw(port: number, head: string): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.end(Buffer.from(head, 'latin1'))
  socket.resume()
  await once(socket, 'close')
}

const world = await startWorld(t)
const trusting = await startWorld(t, {
  top: ['trusted_proxies: [127.0.0.1]', 'metrics: { routes: false }'],
})

t.test('metrics of upstreams, tenants and the build', async (t) => {
  await lineAfter(world, () => world.client.send('GET', '/docs/a'))
  await lineAfter(world, () => world.client.send('GET', '/v1/me', { 'x-api-key': world.keys['acme'] ?? '' }))
  await lineAfter(world, () => world.client.send('GET', '/v1/me', { 'x-api-key': 'sg_acme_wrong' }))
  const text = await metricsOf(world)
  t.match(text, 'seatgate_upstream_duration_seconds_count{upstream="main"} 2')
  t.match(text, 'seatgate_tenant_requests_total{tenant="acme",status="2xx"} 1')
  t.notMatch(text, 'tenant="acme",status="4xx"', 'without an accepted credential there is no tenant')
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  t.match(text, `seatgate_build_info{version="${version}",node="${process.versions.node}"} 1`)
})

t.test('routes: false counts by upstream, and a reload may change it', async (t) => {
  const world = trusting
  await lineAfter(world, () => world.client.send('GET', '/docs/a'))
  await lineAfter(world, () => world.client.send('GET', '/nowhere'))
  await lineAfter(world, () => world.client.send('GET', '/v1/seats'))
  const text = await metricsOf(world)
  t.match(text, 'seatgate_requests_total{upstream="main",status="200"} 1')
  t.match(text, 'seatgate_requests_total{upstream="(none)",status="404"} 1')
  t.match(text, 'seatgate_requests_total{upstream="seatgate",status="401"} 1')
  t.match(text, 'seatgate_request_duration_seconds_count{upstream="main"} 1')
  t.notMatch(text, /route="/)
  const { file } = world.config
  writeFileSync(file, readFileSync(file, 'utf8').replace('{ routes: false }', '{ routes: true }'))
  await world.reload()
  await lineAfter(world, () => world.client.send('GET', '/docs/a'))
  const again = await metricsOf(world)
  t.match(again, 'seatgate_requests_total{route="GET /docs/*",status="200"} 1')
  t.notMatch(again, 'seatgate_requests_total{upstream=')
})

t.test('user agent, target and trace of a forwarded request', async (t) => {
  const line = await lineAfter(world, () =>
    world.client.send('GET', '/docs/a', {
      'user-agent': 'curl/8.1',
      traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
    }),
  )
  t.match(line, { user_agent: 'curl/8.1', target: world.upstream.url, trace_id: TRACE, host: '127.0.0.1' })
  t.match(line, { config: world.config.hash })
  t.equal(world.upstream.seen.at(-1)?.headers['traceparent'], `00-${TRACE}-00f067aa0ba902b7-01`)
  const text = world.logText().trimEnd().split('\n').at(-1) ?? ''
  t.match(readLine(text), { path: '/docs/a', code: 'allow' }, 'a replay reads the line')
})

t.test('a refused request has no target', async (t) => {
  const line = await lineAfter(world, () => world.client.send('GET', '/v1/me', { traceparent: 'x' }))
  t.match(line, { status: 401, target: undefined, trace_id: undefined })
})

t.test('a hostile user agent is cut and escaped', async (t) => {
  const agent = `\x9b2J"\\\t\x85${'é'.repeat(2000)}`
  const line = await lineAfter(world, () =>
    sendRaw(
      world.port,
      `GET /docs/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\nUser-Agent: ${agent}\r\n\r\n`,
    ),
  )
  t.equal(line['user_agent'], agent.slice(0, 1024))
  t.notMatch(world.logText(), /[\x7f-\x9f]/)
})

t.test('tracestate passes from trusted proxies only', async (t) => {
  const state = { tracestate: 'rojo=00f067aa0ba902b7' }
  await lineAfter(world, () => world.client.send('GET', '/docs/a', state))
  t.equal(world.upstream.seen.at(-1)?.headers['tracestate'], undefined)
  await lineAfter(trusting, () => trusting.client.send('GET', '/docs/a', state))
  t.match(trusting.upstream.seen.at(-1)?.headers, state)
})
