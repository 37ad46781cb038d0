/** What the answers of a collector mean, its certificates, and the end of the gateway. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Authority } from '../../proxy/authority.ts'
import { inTime } from '../../support/in-time.ts'
import { startWorld } from '../../support/world.ts'
import { LAST_WAIT, losesAll, losses, requests, SMALL, sum, tracedBy, untilCounts } from './exporting.ts'
import { partialSuccess, startReceiver } from './receiver.ts'

t.test('429, 502, 503 and 504 are repeated after the time that the collector names', async (t) => {
  const statuses = [429, 502, 503, 504]
  const receiver = await startReceiver(t, {
    respond: (response, index) => {
      const status = statuses[index]
      if (status === undefined) response.writeHead(200).end()
      else response.writeHead(status, { 'retry-after': '0' }).end()
    },
  })
  const world = await tracedBy(t, receiver.url)
  await requests(t, world, 1)
  t.equal((await receiver.atLeast(2)).length, 2)
  t.same(await untilCounts(world, (each) => sum(each) === 2), { exported: 2, dropped: 0, failed: 0 })
})

t.test('400 and others are not, nor what would take longer than a batch may', async (t) => {
  const headers: Record<string, string>[] = [{}, { 'retry-after': '9999' }]
  const receiver = await startReceiver(t, {
    respond: (response, index) => response.writeHead(index === 0 ? 400 : 503, headers[index]).end('secret'),
  })
  const world = await tracedBy(t, receiver.url)
  await requests(t, world, 1)
  await untilCounts(world, ({ failed }) => failed === 2)
  await requests(t, world, 1)
  t.same(await untilCounts(world, (each) => sum(each) === 4), { exported: 0, dropped: 0, failed: 4 })
  t.equal(receiver.requests, 2)
  t.match(losses(world)[0], { cause: 'status 400', collector: receiver.url, spans: 2 })
  t.notMatch(world.logText(), 'secret')
})

t.test('partial success', async (t) => {
  const answers = [
    partialSuccess(1, 'too old\u001b[2J'),
    partialSuccess(99, ''),
    Buffer.from([0xff]),
    Buffer.from('ok'),
  ]
  const receiver = await startReceiver(t, {
    respond: (response, index) => response.writeHead(200).end(answers[index]),
  })
  const world = await tracedBy(t, receiver.url)
  const expected = [
    { exported: 1, failed: 1 },
    { exported: 1, failed: 3 },
    { exported: 3, failed: 3 },
    { exported: 5, failed: 3 },
  ]
  for (const [at, each] of expected.entries()) {
    await requests(t, world, 1)
    t.match(await untilCounts(world, (counts) => sum(counts) === 2 * at + 2), each)
  }
  t.match(losses(world)[0], { cause: 'too old\\u001b[2J', spans: 1 })
  t.notMatch(world.logText(), '\u001b')
})

t.test('the end of the gateway sends what waits, and does not wait for a collector that hangs', async (t) => {
  const slow = { OTEL_BSP_SCHEDULE_DELAY: '3600000' }
  const isWhole = (spans: number) => spans === 6
  const sent = await inTime(LAST_WAIT, isWhole, async () => {
    const receiver = await startReceiver(t)
    const world = await tracedBy(t, receiver.url, slow)
    await requests(t, world, 3)
    t.equal(receiver.requests, 0)
    const closing = performance.now()
    await world.gateway.close(1000)
    return { value: receiver.spans.length, took: performance.now() - closing }
  })
  t.equal(sent, 6)

  const hanging = await startReceiver(t, { respond: () => {} })
  const other = await tracedBy(t, hanging.url, slow)
  await requests(t, other, 3)
  await other.gateway.close(1000)
  t.ok(hanging.requests <= 1, 'one attempt')
})

t.test('TLS: an issuing authority without its root, a client certificate, and no other', async (t) => {
  const root = new Authority('root')
  const authority = new Authority('collector', root)
  const stranger = new Authority('stranger', root)
  const server = authority.issue({ names: ['127.0.0.1'] })
  const client = authority.issue({ names: ['gateway'] })
  const tls = {
    cert: server.cert,
    key: server.key,
    ca: root.cert,
    requestCert: true,
    rejectUnauthorized: true,
  }
  const receiver = await startReceiver(t, { tls })
  const folder = t.testdir({
    'ca.pem': authority.cert,
    'client.pem': client.cert,
    'stranger.pem': stranger.cert,
  })
  writeFileSync(join(folder, 'client.key'), client.key, { mode: 0o600 })
  const files = {
    OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, 'ca.pem'),
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: join(folder, 'client.pem'),
    OTEL_EXPORTER_OTLP_CLIENT_KEY: join(folder, 'client.key'),
  }
  const world = await tracedBy(t, receiver.url, files)
  await requests(t, world, 1)
  t.equal((await receiver.atLeast(2)).length, 2)
  const wrong = { ...files, ...SMALL, OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, 'stranger.pem') }
  await losesAll(t, await tracedBy(t, receiver.url, wrong))
  t.equal(receiver.requests, 1)
})

t.test('each worker exports', async (t) => {
  const receiver = await startReceiver(t)
  const world = await startWorld(t, {
    top: ['workers: 2'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '1' },
  })
  await requests(t, world, 3)
  await receiver.atLeast(6)
  t.match(await untilCounts(world, (each) => sum(each) === 6), { exported: 6 })
})
