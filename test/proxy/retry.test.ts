/**
 * A reused connection that closes as the request is sent (RFC 9110, section 9.2.2): a repeatable request is retried,
 * once; one that may have had an effect never is.
 */

import type { Socket } from 'node:net'
import t from 'tap'
import { codeOf, front, serveRaw } from './support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'

/** Answers the first request of each connection and closes at the second. */
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
    t.test(`${method} is retried when the connection was ${how}`, async (t) => {
      const { port, seen } = await dying(t, die)
      const { port: gatewayPort } = await front(t, port)
      await roundTrip(gatewayPort, request('GET /1'))
      t.match(await roundTrip(gatewayPort, request(`${method} /2`)), /^HTTP\/1\.1 200 /)
      t.same(seen, ['GET /1', `${method} /2`, `${method} /2`])
    })
  }
  for (const method of ['POST', 'PATCH', 'PURGE']) {
    t.test(`${method} is never retried, ${how}`, async (t) => {
      const { port, seen } = await dying(t, die)
      const { port: gatewayPort } = await front(t, port)
      await roundTrip(gatewayPort, request('GET /1'))
      t.equal(codeOf(await roundTrip(gatewayPort, request(`${method} /2`))), 'upstream_protocol_error')
      t.same(seen, ['GET /1', `${method} /2`])
    })
  }
  t.test(`a request with a body is not, ${how}`, async (t) => {
    const { port, seen } = await dying(t, die)
    const { port: gatewayPort } = await front(t, port)
    await roundTrip(gatewayPort, request('GET /1'))
    t.equal(codeOf(await roundTrip(gatewayPort, request('PUT /2', 'body'))), 'upstream_protocol_error')
    t.same(seen, ['GET /1', 'PUT /2'])
  })
  t.test(`a new connection that is ${how} is not retried`, async (t) => {
    const { port, seen } = await dying(t, die, 0)
    const { port: gatewayPort } = await front(t, port)
    t.equal(codeOf(await roundTrip(gatewayPort, request('GET /1'))), 'upstream_protocol_error')
    t.same(seen, ['GET /1'])
  })
}

t.test('a response that had begun is not', async (t) => {
  const { port, seen } = await dying(t, (socket) => socket.end('HTTP/1.1 20'))
  const { port: gatewayPort } = await front(t, port)
  await roundTrip(gatewayPort, request('GET /1'))
  t.equal(codeOf(await roundTrip(gatewayPort, request('GET /2'))), 'upstream_protocol_error')
  t.same(seen, ['GET /1', 'GET /2'])
})

t.test('GET succeeds whenever a reused connection closes', async (t) => {
  for (const die of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()]) {
    const answered: Socket[] = []
    const port = await serveRaw(t, (socket) =>
      socket.on('data', () => {
        if (!socket.writable) return
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        answered.push(socket)
      }),
    )
    const { port: gatewayPort } = await front(t, port)
    await roundTrip(gatewayPort, request('GET /'))
    for (let i = 0; i < 40; i++) {
      // It is reused by now, or new: then it stays until the client has its response.
      const [reused] = answered.splice(0)
      const answer = roundTrip(gatewayPort, request(`GET /${i}`))
      // Before, as and after the request arrives.
      for (let turn = 0; turn < i % 10; turn++) await new Promise(setImmediate)
      if (reused?.writable) die(reused)
      t.match(await answer, /^HTTP\/1\.1 200 /)
    }
  }
})

t.test('a reset between the choice of the connection and the write: POST arrives, once', async (t) => {
  const seen: string[] = []
  const idle: Socket[] = []
  const port = await serveRaw(t, (socket) =>
    socket.on('data', (bytes) => {
      seen.push(bytes.toString().split(' HTTP')[0] ?? '')
      idle.push(socket)
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }),
  )
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort)
  for (let i = 0; i < 20; i++) {
    wire.received = ''
    wire.send(`POST /${i} HTTP/1.1\r\nHost: gw\r\nContent-Length: 4\r\n\r\nbody`)
    // The gateway reads both in one turn of the event loop, the request first.
    idle.pop()?.resetAndDestroy()
    t.match(await wire.until(/ok$|"}$/), /^HTTP\/1\.1 200 /)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.equal(seen.length, 20)
  wire.socket.destroy()
})
