/** HEAD, 204 and 304 have no body, whatever their headers say (RFC 9112, section 6.3). */

import t from 'tap'
import { answering, front, serveRaw, valuesOf } from './support.ts'
import { RawClient } from '../support/raw-client.ts'

/** Two requests on one connection: an awaited or added body would hide the second response. */
async function twice(gatewayPort: number, method: string): Promise<[string, string]> {
  const wire = new RawClient(gatewayPort).send(`${method} /1 HTTP/1.1\r\nHost: gw\r\n\r\n`)
  const first = await wire.until('\r\n\r\n')
  wire.received = ''
  wire.send(`${method} /2 HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n`)
  return [first, await wire.ended]
}

for (const [method, status, head, length] of [
  ['HEAD', '200 OK', 'Content-Length: 1234\r\n', ['1234']],
  ['HEAD', '200 OK', 'Transfer-Encoding: chunked\r\n', []],
  ['HEAD', '200 OK', '', []],
  ['GET', '304 Not Modified', 'Content-Length: 1234\r\n', ['1234']],
  ['GET', '304 Not Modified', 'ETag: "1"\r\n', []],
  ['GET', '304 Not Modified', 'Transfer-Encoding: chunked\r\n', []],
  ['GET', '204 No Content', '', []],
  ['GET', '204 No Content', 'Content-Length: 0\r\n', []],
  ['GET', '204 No Content', 'Content-Length: 5\r\n', []],
  ['DELETE', '204 No Content', 'Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n', []],
] as const) {
  t.test(`${method}: ${status}, ${head.trim() || 'no length'}`, async (t) => {
    const port = await answering(t, `HTTP/1.1 ${status}\r\n${head}\r\n`)
    const { port: gatewayPort, exchanges } = await front(t, port)
    for (const answer of await twice(gatewayPort, method)) {
      t.match(answer, `HTTP/1.1 ${status}\r\n`)
      t.ok(answer.endsWith('\r\n\r\n') && answer.split('\r\n\r\n').length === 2, 'no body')
      t.same(valuesOf(answer, 'content-length'), length)
      t.same(valuesOf(answer, 'transfer-encoding'), [])
    }
    t.match(exchanges[1], { bytesOut: 0, refusal: null })
  })
}

t.test('a body in the response to HEAD is dropped', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.on('data', (bytes) => {
      const head = bytes.toString().startsWith('HEAD')
      socket.write(
        head
          ? 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'
          : 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood',
      )
    }),
  )
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort).send('HEAD / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await wire.until('\r\n\r\n')
  wire.send('GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  const all = await wire.ended
  t.notMatch(all, 'EVIL')
  t.ok(all.endsWith('good'))
})
