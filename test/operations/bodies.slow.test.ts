/** 100 MB in both directions, with Content-Length and chunked: bodies are streamed, not buffered. */

import { once } from 'node:events'
import { type IncomingMessage, request as ask, type RequestOptions } from 'node:http'
import t from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { forgetPeak, memoryOf } from './process-status.ts'
import { startService } from './service.ts'

const CHUNK = Buffer.alloc(64 * 1024, 'a')
const CHUNKS = 1600
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
async function count(stream: IncomingMessage, first: () => unknown): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) {
    if (bytes === 0) first()
    bytes += (chunk as Buffer).length
  }
  return bytes
}

const FRAMINGS = [
  ['a length', { 'content-length': SIZE }],
  ['chunks', { 'transfer-encoding': 'chunked' }],
] as const

/** Whether the first byte is there, of a request at the service and of a response at the client. */
const arrived = { request: false, response: false }

const { url } = await startService(t, 'main', async (request, response) => {
  if (request.method === 'PUT')
    return void response.end(String(await count(request, () => (arrived.request = true))))
  if (request.url === '/docs/length') response.setHeader('content-length', SIZE)
  await writeChunks(response, 1)
  await until(() => arrived.response, 'the first byte of the response')
  await writeChunks(response, CHUNKS - 1)
  response.end()
})
const routes = ['GET /docs/*: public', 'PUT /docs/*: { permission: public, max_body: unlimited }']
const gateway = await startGatewayProcess(t, { target: url, routes })

/** The growth of the gateway in MiB at its peak, for work of a new kind. */
async function growth(work: () => Promise<void>): Promise<number> {
  const before = memoryOf(gateway.pid)
  forgetPeak(gateway.pid)
  await work()
  return memoryOf(gateway.pid, 'VmHWM') - before
}

const send = (options: RequestOptions) =>
  ask({ host: '127.0.0.1', port: gateway.port, path: '/docs/a', agent: false, ...options })

t.test('request bodies', async (t) => {
  for (const [framing, headers] of FRAMINGS) {
    arrived.request = false
    const grown = await growth(async () => {
      const out = send({ method: 'PUT', headers })
      const answered = once(out, 'response')
      await writeChunks(out, 1)
      await until(() => arrived.request, 'the first byte of the request')
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
  for (const framing of ['length', 'chunks']) {
    arrived.response = false
    const grown = await growth(async () => {
      const [answer] = (await once(send({ path: `/docs/${framing}` }).end(), 'response')) as [IncomingMessage]
      const bytes = await count(answer, () => (arrived.response = true))
      t.equal(bytes, SIZE, `${framing}: all bytes, the first before the second chunk is sent`)
    })
    t.ok(grown < GROWTH, `${framing}: grew by ${grown.toFixed(1)} MiB`)
  }
})
