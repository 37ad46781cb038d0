/** A whole gateway with HTTP/2 on a listener with TLS, and a client of Node.js. */

import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
} from 'node:http2'
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { Authority } from '../proxy/authority.ts'
import { serveRaw } from '../proxy/support.ts'
import { RawClient } from '../support/raw-client.ts'
import { RawHttp2 } from '../support/raw-http2.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'

export const authority = new Authority()
const secure = authority.issue({ names: ['a.example', 'localhost', '127.0.0.1'] })

export function startSecured(t: Test, options: WorldOptions = {}): Promise<World> {
  return startWorld(t, { secure, ...options })
}

/** Ends with the test. */
export function openSession(t: Test, port: number): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, { ca: authority.cert, servername: 'a.example' })
  session.on('error', () => {})
  t.teardown(() => session.destroy())
  return session
}

export async function openRaw(t: Test, port: number): Promise<RawHttp2> {
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  return client
}

type Headers = Record<string, string | string[]>

/** One request and its whole response. Rejects where the stream ends with an error. */
export function ask(session: ClientHttp2Session, headers: Headers, body?: Buffer | string) {
  const stream = session.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  return answerOf(stream)
}

export async function answerOf(stream: ClientHttp2Stream) {
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  const chunks: Buffer[] = []
  stream.on('response', (received) => (headers = received))
  stream.on('trailers', (received) => (trailers = received))
  stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(stream, 'close')
  const body = Buffer.concat(chunks).toString('latin1')
  // The code of RST_STREAM is 0 without one.
  return { status: Number(headers[':status']), headers, trailers, body, code: stream.rstCode }
}

/** An upstream of bytes. @param answer called with all that a connection has received, after each part */
export async function rawUpstream(t: Test, answer: (socket: Socket, received: string) => void) {
  const connections: RawClient[] = []
  const port = await serveRaw(t, (socket) => {
    const connection = new RawClient(socket)
    connections.push(connection)
    socket.on('data', () => answer(socket, connection.received))
  })
  return { url: `http://127.0.0.1:${port}`, connections }
}
