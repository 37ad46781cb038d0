/** 2,000 clients that abort: the upstream's requests end, every socket is closed, and other clients are not affected. */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../runtime/workers/support.ts'
import { OperatedGateway } from './gateway.ts'
import { startService } from './service.ts'
import { open, WireClient } from './wire-client.ts'

const CLIENTS = 2000
const AT_ONCE = 50

interface Counted {
  /** By path. */
  readonly begun: Set<string>
  ended: number
}

async function start(t: Test) {
  const seen: Counted = { begun: new Set(), ended: 0 }
  const { url } = await startService(t, 'main', (request, response) => {
    if (request.url === '/docs/well') return void response.end('well')
    seen.begun.add(request.url ?? '')
    request.resume()
    request.on('error', () => {})
    response.on('close', () => seen.ended++)
    if (request.method === 'GET') response.write('a'.repeat(10_000))
  })
  const gateway = await OperatedGateway.start(t, { targets: [url] })
  const well = async () => new WireClient(gateway.port, false).send('GET', '/docs/well')
  t.match(await well(), { status: 200, body: 'well' })
  return { gateway, seen, well }
}

/** @param leave resolves when the connection is to be reset */
async function abort(
  port: number,
  request: string,
  leave: (socket: Socket) => Promise<unknown>,
): Promise<void> {
  const socket = await open(port)
  if (socket === null) throw new Error('refused')
  socket.write(request)
  await leave(socket)
  socket.resetAndDestroy()
}

async function abortAll(
  t: Test,
  request: (path: string) => string,
  leave: (socket: Socket, seen: Counted, path: string) => Promise<unknown>,
) {
  const { gateway, seen, well } = await start(t)
  const files = gateway.files
  const line = Array.from({ length: AT_ONCE }, async (_, at) => {
    for (let i = at; i < CLIENTS; i += AT_ONCE) {
      const path = `/docs/${i}`
      await abort(gateway.port, request(path), (socket) => leave(socket, seen, path))
    }
  })
  await Promise.all(line)
  t.match(await well(), { status: 200, body: 'well' })
  await until(() => seen.ended === seen.begun.size)
  t.equal(seen.begun.size, CLIENTS)
  await until(() => gateway.files <= files)
  t.equal(await gateway.metric('seatgate_requests_in_flight'), 0)
  t.equal(await gateway.metric('seatgate_connections{state="active"}'), 0)
  t.ok(gateway.running)
}

t.test('during the response', (t) =>
  abortAll(
    t,
    (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
    (socket) => once(socket, 'data'),
  ),
)

t.test('during the request body', (t) =>
  abortAll(
    t,
    (path) => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n${'a'.repeat(5000)}`,
    (_socket, seen, path) => until(() => seen.begun.has(path)),
  ),
)
