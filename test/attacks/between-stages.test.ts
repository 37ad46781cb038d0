/** A connection between the arrival of its bytes and their processing by the next stage. */

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { Exchange } from '../../src/http/server/exchange.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { openListener } from '../support/listener.ts'
import { startWorld, type World } from '../support/world.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

/** ms: only a fault makes a worker take this long. */
const PATIENCE = 30_000

/** Clients in a thread of their own, which keeps running while this one is blocked. `done()` ends the block. */
function clients(t: Test, port: number, program: string) {
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(
    `const net = require('node:net')
     const { workerData: { port, flag }, parentPort: parent } = require('node:worker_threads')
     const done = () => { Atomics.store(flag, 0, 1); Atomics.notify(flag, 0) }
     ${program}`,
    { eval: true, workerData: { port, flag } },
  )
  t.teardown(() => worker.terminate())
  /**
   * Blocks the whole process, including the gateway, so that everything the clients do meanwhile arrives in one turn of
   * the event loop.
   */
  const block = () => t.not(Atomics.wait(flag, 0, 0, PATIENCE), 'timed-out', 'the clients have done it')
  return { worker, block }
}

t.test('a connection with an unread request is not evicted for another one', async (t) => {
  const world = await startWorld(t, { top: ['limits: { connections: 8 }'] })
  const { worker, block } = clients(
    t,
    world.port,
    `const all = Array.from({ length: 8 }, (_, i) => {
       const socket = net.connect(port, '127.0.0.1').setNoDelay(true).on('error', () => {})
       socket.on('close', () => parent.postMessage(i + ' closed'))
       let text = ''
       socket.on('data', (data) => {
         text += data
         if (!text.endsWith('}')) return
         parent.postMessage(i + ' ' + text.slice(9, 12))
         text = ''
       })
       socket.write('GET /docs/' + i + ' HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
       return socket
     })
     parent.on('message', async () => {
       const request = 'GET /docs/pay HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n'
       await Promise.all(all.map((socket) => new Promise((sent) => socket.write(request, sent))))
       net.connect(port, '127.0.0.1').on('error', () => {}).on('connect', done)
     })`,
  )
  const messages: string[] = []
  worker.on('message', (text: string) => messages.push(text))
  await until(() => messages.length >= 8, 'the first responses')
  worker.postMessage('go')
  block()
  await until(() => messages.length >= 16, 'the second responses')
  const second = messages.slice(8).sort()
  t.same(
    second,
    Array.from({ length: 8 }, (_, i) => `${i} 200`),
    'each has its response',
  )
  t.equal(world.upstream.seen.length, 16)
})

t.test('a body is forwarded as it arrives, however much arrives in one turn', async (t) => {
  let largest = 0
  let bytes = 0
  const listener = await openListener((request, response) => {
    const sink = {
      data: (chunk: Buffer) => {
        largest = Math.max(largest, chunk.length)
        bytes += chunk.length
      },
      end: () => {
        response.writeHead(204, ResponseFields.of([]))
        response.end()
      },
      aborted: () => {},
    }
    request.deliver(sink)
    return new Exchange(request, response, 'id', 0)
  })
  t.teardown(() => listener.close(0))
  const size = 16 * 1024 * 1024
  const { worker, block } = clients(
    t,
    listener.address.port,
    `const socket = net.connect(port, '127.0.0.1')
     socket.write('POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: ${size}\\r\\n\\r\\n')
     socket.on('connect', () => {
       // As much as the buffers of the system take, at once.
       socket.write(Buffer.alloc(${size}))
       setImmediate(done)
     })
     socket.on('data', (data) => parent.postMessage(String(data).slice(9, 12)))`,
  )
  const reply = once(worker, 'message')
  block()
  t.same(await reply, ['204'])
  t.equal(bytes, size)
  t.ok(largest <= 256 * 1024, `${largest} bytes`)
})

t.test('a handshake whose client has ended its side is not forwarded', async (t) => {
  const held: ServerResponse[] = []
  const world = await startWorld(t, {
    answer: (request, response) => void (request.url === '/docs/slow' ? held.push(response) : response.end()),
  })
  const wire = new RawClient(world.port)
  wire.socket.setNoDelay(true)
  wire.send('GET /docs/slow HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => held.length === 1, 'the request at the upstream')
  const handshake =
    'GET /docs/ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  wire.send(handshake.slice(0, 30))
  await othersPass(world)
  wire.socket.end(handshake.slice(30))
  await othersPass(world)
  held[0]?.end('done')
  await wire.ended
  await othersPass(world)
  t.same(new Set(world.upstream.seen.map(({ url }) => url)), new Set(['/docs/slow', '/docs/other']))
})

/** What was sent before is read by then, and what the gateway has forwarded has arrived. */
async function othersPass(world: World): Promise<void> {
  for (let i = 0; i < 3; i++) await world.client.send('GET', '/docs/other')
}
