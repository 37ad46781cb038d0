/** A connection between the arrival of its bytes and their processing by the next stage. */

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { Exchange } from '../../src/http/server/exchange.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { Wire } from '../proxy/support.ts'
import { openListener } from '../support/listener.ts'
import { startWorld } from '../support/world.ts'

/**
 * Blocks the whole process, including the gateway, so that everything its clients do meanwhile arrives in one turn of
 * the event loop.
 */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Clients in a thread of their own, which keeps running while this one is blocked. */
function clients(t: Test, port: number, program: string): Worker {
  const worker = new Worker(
    `const net = require('node:net'); const { workerData: port, parentPort: parent } = require('node:worker_threads')\n${program}`,
    { eval: true, workerData: port },
  )
  t.teardown(() => worker.terminate())
  return worker
}

t.test('a connection with an unread request is not evicted for another one', async (t) => {
  const world = await startWorld(t, { top: ['limits: { connections: 8 }'] })
  const worker = clients(
    t,
    world.port,
    `const all = Array.from({ length: 8 }, (_, i) => {
       const socket = net.connect(port, '127.0.0.1').setNoDelay(true).on('error', () => {})
       socket.on('close', () => parent.postMessage(i + ' closed'))
       socket.on('data', (data) => parent.postMessage(i + ' ' + String(data).slice(9, 12)))
       socket.write('GET /docs/' + i + ' HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
       return socket
     })
     parent.on('message', () => {
       for (const socket of all) socket.write('GET /docs/pay HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
       setTimeout(() => net.connect(port, '127.0.0.1').on('error', () => {}), 5)
     })`,
  )
  const messages: string[] = []
  worker.on('message', (text: string) => messages.push(text))
  while (messages.length < 8) await sleep(5)
  worker.postMessage('go')
  blockFor(150)
  while (messages.length < 16) await sleep(5)
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
        if (bytes % 7 === 0) blockFor(5)
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
  const worker = clients(
    t,
    listener.address.port,
    `const socket = net.connect(port, '127.0.0.1')
     socket.write('POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: ${size}\\r\\n\\r\\n')
     socket.write(Buffer.alloc(${size}))
     socket.on('data', (data) => parent.postMessage(String(data).slice(9, 12)))`,
  )
  const reply = once(worker, 'message')
  for (let i = 0; i < 30 && bytes < size; i++) {
    blockFor(20)
    await sleep(1)
  }
  t.same(await reply, ['204'])
  t.equal(bytes, size)
  t.ok(largest <= 256 * 1024, `${largest} bytes`)
})

t.test('a handshake whose client has ended its side is not forwarded', async (t) => {
  const world = await startWorld(t, {
    answer: (_request, response) => void setTimeout(() => response.end('done'), 200),
  })
  const wire = new Wire(world.port)
  wire.socket.setNoDelay(true)
  wire.send('GET /docs/slow HTTP/1.1\r\nHost: a\r\n\r\n')
  while (world.upstream.seen.length === 0) await sleep(5)
  const handshake =
    'GET /docs/ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  wire.send(handshake.slice(0, 30))
  await sleep(30)
  wire.socket.end(handshake.slice(30))
  await wire.ended
  await sleep(50)
  t.equal(world.upstream.seen.length, 1, 'the upstream receives the first request only')
})
