/** 200 MB in both directions, with Content-Length and chunked: bodies are streamed, not buffered. */

import { once } from 'node:events'
import { type IncomingMessage, request as ask, type RequestOptions } from 'node:http'
import t, { type Test } from 'tap'
import { until } from '../runtime/workers/support.ts'
import { OperatedGateway } from './gateway.ts'
import { startService } from './service.ts'

const CHUNK = Buffer.alloc(64 * 1024, 'a')
const CHUNKS = 3200
const SIZE = CHUNK.length * CHUNKS
/** Maximum growth in MiB at the peak. */
const GROWTH = 64

interface Out {
  write(chunk: Buffer): boolean
  once(event: 'drain', listener: () => void): unknown
}

/** Writes with backpressure. */
async function writeChunks(out: Out, count: number): Promise<void> {
  for (let i = 0; i < count; i++)
    if (!out.write(CHUNK)) await new Promise<void>((go) => out.once('drain', go))
}

/** @param first called with the first byte */
async function count(stream: IncomingMessage, first: () => void = () => {}): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) {
    if (bytes === 0) first()
    bytes += (chunk as Buffer).length
  }
  return bytes
}

async function start(t: Test, service: Parameters<typeof startService>[2]) {
  const { url } = await startService(t, 'main', service)
  const gateway = await OperatedGateway.start(t, { targets: [url] })
  const options = (more: RequestOptions): RequestOptions => ({
    host: '127.0.0.1',
    port: gateway.port,
    path: '/docs/a',
    agent: false,
    ...more,
  })
  return { gateway, options }
}

/** The growth of the process in MiB at its peak, for work of a new kind. */
async function growth(gateway: OperatedGateway, work: () => Promise<void>): Promise<number> {
  const before = gateway.rss()
  gateway.forgetPeak()
  await work()
  return gateway.rss('VmHWM') - before
}

const FRAMINGS = [
  ['a length', { 'content-length': SIZE }],
  ['chunks', { 'transfer-encoding': 'chunked' }],
] as const

t.test('request bodies', async (t) => {
  let begun = 0
  const { gateway, options } = await start(t, async (request, response) => {
    response.end(String(await count(request, () => begun++)))
  })
  for (const [framing, headers] of FRAMINGS) {
    const grown = await growth(gateway, async () => {
      const before = begun
      const out = ask(options({ method: 'PUT', headers }))
      const answered = once(out, 'response')
      await writeChunks(out, 1)
      await until(() => begun > before)
      t.pass(`${framing}: the first byte arrives before the second chunk is sent`)
      await writeChunks(out, CHUNKS - 1)
      out.end()
      const [answer] = (await answered) as [IncomingMessage]
      let text = ''
      for await (const chunk of answer) text += String(chunk)
      t.equal(Number(text), SIZE)
    })
    t.ok(grown < GROWTH, `${framing}: grew by ${grown.toFixed(1)} MiB`)
  }
})

t.test('response bodies', async (t) => {
  let arrived = false
  const { gateway, options } = await start(t, async (request, response) => {
    if (request.url?.includes('length')) response.setHeader('content-length', SIZE)
    await writeChunks(response, 1)
    await until(() => arrived)
    await writeChunks(response, CHUNKS - 1)
    response.end()
  })
  for (const framing of ['length', 'chunks']) {
    arrived = false
    const grown = await growth(gateway, async () => {
      const [answer] = (await once(ask(options({ path: `/docs/${framing}` })).end(), 'response')) as [
        IncomingMessage,
      ]
      const bytes = await count(answer, () => {
        arrived = true
      })
      t.equal(bytes, SIZE, `${framing}: all bytes, the first before the second chunk is sent`)
    })
    t.ok(grown < GROWTH, `${framing}: grew by ${grown.toFixed(1)} MiB`)
  }
})
