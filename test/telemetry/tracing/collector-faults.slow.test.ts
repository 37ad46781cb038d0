/** A collector that is away, slow or hostile costs spans, which are counted, and never requests. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t from 'tap'
import { listen } from '../../support/listen.ts'
import { losesAll, requests, SMALL, sum, tracedBy, untilCounts } from './exporting.ts'
import { startReceiver } from './receiver.ts'

async function* endless(): AsyncGenerator<Buffer> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve))
    yield Buffer.alloc(16_384)
  }
}

t.test('no collector listens', async (t) => {
  await losesAll(t, await tracedBy(t, 'http://127.0.0.1:1', SMALL))
})

t.test('the collector never answers', async (t) => {
  await losesAll(t, await tracedBy(t, (await startReceiver(t, { respond: () => {} })).url, SMALL))
})

t.test('the collector closes each connection', async (t) => {
  const port = await listen(
    t,
    createServer((socket) => socket.destroy()),
  )
  await losesAll(t, await tracedBy(t, `http://127.0.0.1:${port}`, SMALL))
})

t.test('the collector answers without an end', async (t) => {
  const { url } = await startReceiver(t, {
    respond: (response) => void pipeline(Readable.from(endless()), response).catch(() => {}),
  })
  await losesAll(t, await tracedBy(t, url, SMALL))
})

t.test('the collector redirects: its batches go nowhere else', async (t) => {
  const other = await startReceiver(t)
  const { url } = await startReceiver(t, {
    respond: (response) => response.writeHead(307, { location: `${other.url}/v1/traces` }).end(),
  })
  await losesAll(t, await tracedBy(t, url, { ...SMALL, OTEL_EXPORTER_OTLP_HEADERS: 'x-key=secret-key' }))
  t.equal(other.requests, 0)
})

t.test('a stopped collector: the queue is full, and what is beyond it is dropped', async (t) => {
  const collector = spawn(process.execPath, ['-e', STOPPABLE], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => ended(collector))
  const [port] = (await once(collector.stdout, 'data')) as [Buffer]
  const patient = { ...SMALL, OTEL_BSP_EXPORT_TIMEOUT: '600000', OTEL_EXPORTER_OTLP_TIMEOUT: '600000' }
  const world = await tracedBy(t, `http://127.0.0.1:${String(port).trim()}`, patient)
  await requests(t, world, 1)
  await untilCounts(world, ({ exported }) => exported === 2)
  collector.kill('SIGSTOP')
  await requests(t, world, 20)
  const counts = await untilCounts(world, (each) => sum(each) >= 38)
  t.same(counts, { exported: 2, dropped: 36, failed: 0 }, 'four wait: two of them are being sent')
  collector.kill('SIGCONT')
  await untilCounts(world, ({ exported }) => exported === 6)
  await requests(t, world, 1)
  t.same(await untilCounts(world, (each) => sum(each) === 44), { exported: 8, dropped: 36, failed: 0 })
})

const STOPPABLE = `require('http').createServer((q, r) => { q.resume(); q.on('end', () => r.end()) })
  .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}
