/** 400 clients that abort: the upstream's requests end, every socket is closed, and other clients are not affected. */

import { once } from 'node:events'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { openFilesOf } from './process-status.ts'
import { startService } from './service.ts'
import { open, WireClient } from './wire-client.ts'

const CLIENTS = 400
const AT_ONCE = 50

/** Requests at the upstream: those that have begun, by path, and how many have ended. */
const seen = { begun: new Set<string>(), ended: 0 }

const { url } = await startService(t, 'main', (request, response) => {
  if (request.url === '/docs/well') return void response.end('well')
  seen.begun.add(request.url ?? '')
  request.resume()
  request.on('error', () => {})
  response.on('close', () => seen.ended++)
  if (request.method === 'GET') response.write('a'.repeat(10_000))
})
const routes = ['GET /docs/*: public', 'POST /docs/*: { permission: public, max_body: unlimited }']
const gateway = await startGatewayProcess(t, { target: url, routes })
const well = () => new WireClient(gateway.port, false).send('GET', '/docs/well')

/** @param leave resolves when the connection is to be reset */
async function abort(request: string, leave: (socket: Socket) => Promise<unknown>): Promise<void> {
  const socket = await open(gateway.port)
  if (socket === null) throw new Error('refused')
  socket.write(request)
  await leave(socket)
  socket.resetAndDestroy()
}

async function abortAll(
  t: Test,
  request: (path: string) => string,
  leave: (socket: Socket, path: string) => Promise<unknown>,
) {
  t.match(await well(), { status: 200, body: 'well' })
  const files = openFilesOf(gateway.pid)
  seen.begun.clear()
  seen.ended = 0
  const line = Array.from({ length: AT_ONCE }, async (_, at) => {
    for (let i = at; i < CLIENTS; i += AT_ONCE) {
      const path = `/docs/${i}`
      await abort(request(path), (socket) => leave(socket, path))
    }
  })
  await Promise.all(line)
  t.match(await well(), { status: 200, body: 'well' })
  await until(
    () => seen.ended === CLIENTS,
    () => `${seen.begun.size} requests have begun, ${seen.ended} have ended`,
  )
  t.equal(seen.begun.size, CLIENTS)
  await until(
    () => openFilesOf(gateway.pid) <= files,
    () => `${openFilesOf(gateway.pid)} files are open, ${files} before`,
  )
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
    (_socket, path) => until(() => seen.begun.has(path), `${path} at the upstream`),
  ),
)
