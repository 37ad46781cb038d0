/** A request body in the smallest parts, to an upstream that does not read: its reader stops before the parts take much memory. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import t, { type Test } from 'tap'
import { writeBody } from '../../../src/http/client/request-writer.ts'
import { Authority } from '../../proxy/authority.ts'
import { standstill } from '../../proxy/support.ts'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'

/** Parts that may wait. */
const MOST = 300
const LARGE = 16 * 1024

const { identity } = new Authority()

/** Both ends of a connection. */
async function pair(t: Test, tls: boolean): Promise<{ socket: Socket; upstream: Socket }> {
  const server = tls ? createTlsServer(identity) : createServer()
  const to = { port: await listen(t, server), host: '127.0.0.1' }
  const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to)
  t.teardown(() => socket.destroy())
  const [upstream] = (await once(server, tls ? 'secureConnection' : 'connection')) as [Socket]
  return { socket, upstream }
}

const CASES: readonly [name: string, length: number, tls: boolean][] = [
  ['in chunks', Infinity, false],
  ['in chunks, over TLS', Infinity, true],
  ['with a Content-Length', 10_000_000, false],
]

for (const [name, length, tls] of CASES) {
  t.test(name, async (t) => {
    const { socket, upstream } = await pair(t, tls)
    upstream.pause()
    const body = new Readable({ read() {} })
    let sent = 0
    writeBody(socket, 'POST / HTTP/1.1\r\n\r\n', body, length, {
      sent: (bytes) => (sent += bytes),
      done: () => {},
      failed: (error) => t.fail(error.message),
    })
    const send = async (bytes: number) => {
      const before = sent
      body.push(Buffer.alloc(bytes, 'a'))
      while (sent === before) await new Promise(setImmediate)
    }
    while ((await standstill(() => socket.writableLength)) === 0) await send(LARGE)
    let parts = 0
    for (; !body.isPaused(); parts++) await send(1)
    t.ok(parts <= MOST, `${parts} parts wait`)
    upstream.resume()
    await until(() => !body.isPaused(), 'more of the body is taken')
    await send(1)
  })
}
