/**
 * CVE-2026-48931 (Node's http.Agent): bytes that an upstream wrote after its response were used as the response to
 * the next request on that connection, which was another client's.
 */

import type { Socket } from 'node:net'
import t from 'tap'
import { front, serveRaw } from './support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const EVIL = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'

for (const [name, when] of [
  ['with the answer', 'at once'],
  ['in the next tick', 'next tick'],
  ['a moment later, on the idle connection', 'idle'],
] as const) {
  t.test(`a second response ${name}`, async (t) => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood'
    const open = new Set<Socket>()
    let connections = 0
    const port = await serveRaw(t, (socket) => {
      connections++
      open.add(socket)
      socket.on('close', () => open.delete(socket))
      socket.on('data', () => {
        socket.write(when === 'at once' ? answer + EVIL : answer)
        if (when === 'next tick') setImmediate(() => socket.write(EVIL))
      })
    })
    const { port: gatewayPort } = await front(t, port)
    for (let i = 0; i < 10; i++) {
      const received = await roundTrip(gatewayPort, 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
      t.ok(received.endsWith('good'))
      if (when === 'idle') for (const socket of open) socket.write(EVIL)
      await until(() => open.size === 0, 'the end of the connection')
    }
    t.equal(connections, 10, 'no connection was reused')
  })
}

t.test('with the response, while others wait for the connection', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.on('data', (bytes) => {
      const path = bytes.toString().split(' ')[1] ?? ''
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}${EVIL}${EVIL}`)
    }),
  )
  const { port: gatewayPort } = await front(t, port, { connections: 2 })
  const paths = Array.from({ length: 100 }, (_, i) => `/${i}`)
  const answers = await Promise.all(
    paths.map((path) =>
      roundTrip(gatewayPort, `GET ${path} HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n`),
    ),
  )
  t.same(
    answers.map((answer) => answer.split('\r\n\r\n')[1]),
    paths,
  )
})

t.test('bytes beyond the length of a response are dropped', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more`)),
  )
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort)
  for (let i = 1; i <= 3; i++) {
    wire.send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
    await until(() => wire.received.split('\r\n\r\nok').length > i, 'the response')
  }
  t.notMatch(wire.received, 'and more')
  wire.socket.destroy()
})
