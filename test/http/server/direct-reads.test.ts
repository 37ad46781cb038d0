/** Data of a socket is neither lost, duplicated nor reordered on either path. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { readDirectly } from '../../../src/http/server/direct-reads.ts'
import { Authority } from '../../proxy/authority.ts'
import { standstill } from '../../proxy/support.ts'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'

const { identity } = new Authority()
const SENT = Buffer.alloc(4_000_000)
for (let i = 0; i < SENT.length; i++) SENT[i] = (i * 7 + (i >> 8)) & 0xff

/** More than the buffers of both sockets in the kernel take. */
const MUCH = 16 * 1024 * 1024

/** Sends so much, each part when the one before it is with the operating system, and then ends. */
function sendMuch(client: Socket): { readonly sent: number } {
  const progress = { sent: 0 }
  const part = Buffer.alloc(64 * 1024)
  const next = () => {
    if (progress.sent === MUCH) return void client.end()
    client.write(part, (error) => {
      if (error) return
      progress.sent += part.length
      next()
    })
  }
  next()
  return progress
}

/** Both ends of a connection. */
type Pair = (t: Test) => Promise<{ client: Socket; socket: Socket }>

async function plain(t: Test) {
  const server = createServer({ allowHalfOpen: true })
  const client = connect(await listen(t, server), '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.teardown(() => client.destroy())
  return { client, socket }
}

async function overTls(t: Test) {
  const server = createTlsServer({ ...identity, allowHalfOpen: true })
  const client = connectTls({ port: await listen(t, server), host: '127.0.0.1', rejectUnauthorized: false })
  const [socket] = (await once(server, 'secureConnection')) as [Socket]
  t.teardown(() => client.destroy())
  return { client, socket }
}

for (const [name, pair] of Object.entries({ plain, 'over TLS': overTls } satisfies Record<string, Pair>)) {
  t.test(`${name}: paused and resumed at any point, from within and from outside`, async (t) => {
    const { client, socket } = await pair(t)
    const received: Buffer[] = []
    let reads = 0
    const take = (chunk: Buffer) => {
      received.push(chunk)
      reads++
      if (reads % 3 === 0) {
        socket.pause()
        if (reads % 2 === 0) setImmediate(() => socket.resume())
        else setTimeout(() => socket.resume(), 1)
      } else if (reads % 5 === 0) socket.pause().resume()
      if (reads % 4 !== 0) return true
      // Stopped, and resumed at once or later, also while it is paused.
      if (reads % 8 === 0) setImmediate(() => direct.more())
      else setTimeout(() => direct.more(), 2)
      return false
    }
    socket.on('data', take)
    const direct = readDirectly(socket, take)
    const ended = once(socket, 'end')
    for (let at = 0; at < SENT.length; at += 50_001) client.write(SENT.subarray(at, at + 50_001))
    client.end()
    await ended
    t.ok(Buffer.concat(received).equals(SENT), 'all of it, in order')
  })

  t.test(`${name}: while it is paused, its sender waits`, async (t) => {
    const { client, socket } = await pair(t)
    let received = 0
    const take = (chunk: Buffer) => {
      received += chunk.length
      return true
    }
    socket.on('data', take)
    readDirectly(socket, take)
    socket.pause()
    const progress = sendMuch(client)
    t.ok((await standstill(() => progress.sent)) < MUCH, 'it waits')
    t.equal(received, 0)
    t.ok(
      socket.readableLength < 1024 * 1024,
      `reads at most a bounded amount: ${socket.readableLength} bytes`,
    )
    socket.resume()
    await once(socket, 'end')
    t.equal(received, MUCH)
  })

  t.test(`${name}: the next reader gets the rest`, async (t) => {
    const { client, socket } = await pair(t)
    const received: string[] = []
    const take = (chunk: Buffer) => {
      received.push(`direct ${chunk}`)
      direct.end()
      socket.off('data', take)
      socket.on('data', (chunk: Buffer) => received.push(`usual ${chunk}`))
      return true
    }
    socket.on('data', take)
    const direct = readDirectly(socket, take)
    client.write('one')
    await until(() => received.length > 0, 'the first bytes')
    client.end('two')
    await once(socket, 'end')
    t.same(received, ['direct one', 'usual two'])
  })

  t.test(`${name}: stopped, its sender waits, and the next reader gets the rest`, async (t) => {
    const { client, socket } = await pair(t)
    let received = 0
    const take = (chunk: Buffer) => {
      received += chunk.length
      return false
    }
    socket.on('data', take)
    const direct = readDirectly(socket, take)
    const progress = sendMuch(client)
    await until(() => received > 0, 'the first bytes')
    t.ok((await standstill(() => progress.sent)) < MUCH, 'it waits')
    t.ok(received <= 128 * 1024, `${received} bytes`)
    t.equal(socket.readableLength, 0)
    socket.off('data', take).on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    direct.end()
    await once(socket, 'end')
    t.equal(received, MUCH)
  })
}

t.test('plain sockets read into one buffer, and each chunk is a copy', async (t) => {
  const [one, other] = [await plain(t), await plain(t)]
  const chunks: Buffer[] = []
  for (const { socket } of [one, other]) {
    const take = (chunk: Buffer) => chunks.push(chunk) > 0
    socket.on('data', take)
    readDirectly(socket, take)
  }
  one.client.write('first')
  await until(() => chunks.length === 1, 'the first chunk')
  other.client.write('second')
  await until(() => chunks.length === 2, 'the second chunk')
  t.same(chunks.map(String), ['first', 'second'])
  // Node.js makes a buffer of this length for the bytes of a read; a copy is a part of a pool.
  for (const chunk of chunks) t.ok(chunk.buffer.byteLength > chunk.length)
})
