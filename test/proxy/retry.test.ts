/**
 * A kept connection that dies as it is used again (RFC 9110, section 9.2.2): what may be repeated is, once; what may
 * have had an effect never is.
 */

import type { Socket } from 'node:net'
import t from 'tap'
import { codeOf, front, roundTrip, serveRaw, Wire } from './support.ts'

/** Answers the first request of each connection and dies at the second. */
async function dying(t: Parameters<typeof serveRaw>[0], die: (socket: Socket) => void, answers = 1) {
  const seen: string[] = []
  const port = await serveRaw(t, (socket) => {
    let requests = 0
    socket.on('data', (bytes) => {
      seen.push(bytes.toString().split(' HTTP')[0] ?? '')
      if (++requests > answers) die(socket)
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  return { port, seen }
}

const request = (line: string, body = '') =>
  `${line} HTTP/1.1\r\nHost: gw\r\n${body === '' ? '' : `Content-Length: ${body.length}\r\n`}Connection: close\r\n\r\n${body}`

for (const [how, die] of [
  ['closed', (socket: Socket) => socket.end()],
  ['reset', (socket: Socket) => socket.resetAndDestroy()],
] as const) {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
    t.test(`${method} is asked again when the connection was ${how}`, async (t) => {
      const { port, seen } = await dying(t, die)
      const { port: gate } = await front(t, port)
      await roundTrip(gate, request('GET /1'))
      t.match(await roundTrip(gate, request(`${method} /2`)), /^HTTP\/1\.1 200 /)
      t.same(seen, ['GET /1', `${method} /2`, `${method} /2`])
    })
  }
  for (const method of ['POST', 'PATCH', 'PURGE']) {
    t.test(`${method} never is, ${how}`, async (t) => {
      const { port, seen } = await dying(t, die)
      const { port: gate } = await front(t, port)
      await roundTrip(gate, request('GET /1'))
      t.equal(codeOf(await roundTrip(gate, request(`${method} /2`))), 'upstream_protocol_error')
      t.same(seen, ['GET /1', `${method} /2`])
    })
  }
  t.test(`nor is what has a body, ${how}`, async (t) => {
    const { port, seen } = await dying(t, die)
    const { port: gate } = await front(t, port)
    await roundTrip(gate, request('GET /1'))
    t.equal(codeOf(await roundTrip(gate, request('PUT /2', 'body'))), 'upstream_protocol_error')
    t.same(seen, ['GET /1', 'PUT /2'])
  })
  t.test(`a new connection that is ${how} is not tried again`, async (t) => {
    const { port, seen } = await dying(t, die, 0)
    const { port: gate } = await front(t, port)
    t.equal(codeOf(await roundTrip(gate, request('GET /1'))), 'upstream_protocol_error')
    t.same(seen, ['GET /1'])
  })
}

t.test('nor is an answer that had begun', async (t) => {
  const { port, seen } = await dying(t, (socket) => socket.end('HTTP/1.1 20'))
  const { port: gate } = await front(t, port)
  await roundTrip(gate, request('GET /1'))
  t.equal(codeOf(await roundTrip(gate, request('GET /2'))), 'upstream_protocol_error')
  t.same(seen, ['GET /1', 'GET /2'])
})

t.test('whenever it is that a kept connection dies, GET is answered', async (t) => {
  for (const die of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    const port = await serveRaw(t, (socket) =>
      socket.on('data', () => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', () => setTimeout(die, 5, socket))
      }),
    )
    const { port: gate } = await front(t, port)
    for (let i = 0; i < 50; i++) {
      // Around that moment.
      await new Promise((resolve) => setTimeout(resolve, i % 8))
      t.match(await roundTrip(gate, request(`GET /${i}`)), /^HTTP\/1\.1 200 /)
    }
  }
})

t.test('a reset that comes between the taking up and the writing: POST arrives, once', async (t) => {
  const seen: string[] = []
  const idle: Socket[] = []
  const port = await serveRaw(t, (socket) =>
    socket.on('data', (bytes) => {
      seen.push(bytes.toString().split(' HTTP')[0] ?? '')
      idle.push(socket)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }),
  )
  const { port: gate } = await front(t, port)
  const wire = new Wire(gate)
  for (let i = 0; i < 20; i++) {
    wire.received = ''
    wire.send(`POST /${i} HTTP/1.1\r\nHost: gw\r\nContent-Length: 4\r\n\r\nbody`)
    // The gateway reads both in one turn of the loop, the request first.
    idle.pop()?.resetAndDestroy()
    t.match(await wire.until(/ok$|"}$/), /^HTTP\/1\.1 200 /)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.equal(seen.length, 20)
  wire.socket.destroy()
})
