/** A peer whose responses are not the planned ones has no figures: with real loads on real servers. */

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { writeRequests } from '../../bench/requests.ts'
import { Traffic } from '../../bench/traffic.ts'
import { serverFolder } from '../support/servers/folder.ts'

const folder = serverFolder(t, 'traffic')

const requests = writeRequests(
  folder,
  'some',
  [200, 401, 200, 403].map((status) => ({
    path: `/${status}`,
    headers: [],
    status: status as 200 | 401 | 403,
  })),
)

async function trafficOf(t: Test, statusOf: (request: IncomingMessage) => number, authorises = true) {
  const server = createServer((request, response) => {
    const isOwn = request.headers.host === `127.0.0.1:${request.socket.localPort}`
    response.writeHead(isOwn ? statusOf(request) : 400, ['Content-Length', '0']).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return new Traffic({ port, requests, authorises, workers: 1 })
}

const planned = ({ url = '' }: IncomingMessage) => Number(url.slice(1))

t.test('the planned responses, one load after the other', async (t) => {
  const traffic = await trafficOf(t, planned)
  const { requests, refused, statuses } = await traffic.saturate(1, true)
  t.ok(requests > 0)
  t.equal((statuses['401'] ?? 0) + (statuses['403'] ?? 0), refused)
  await traffic.saturate(1)
  const latency = await traffic.atRate(200, 1)
  t.equal(latency.requests, 200)
})

t.test('403 in place of 401: only the count of statuses shows it', async (t) => {
  const swapped = (request: IncomingMessage) => (planned(request) === 401 ? 403 : planned(request))
  await t.rejects((await trafficOf(t, swapped)).saturate(1, true), /planned 200\/401\/403/)
})

t.test('a peer that allows everything, and one that refuses too much', async (t) => {
  const all = await trafficOf(t, () => 200)
  await t.rejects(all.saturate(1), /planned/)
  await t.rejects(all.atRate(200, 1), /were refused/)
  await t.rejects((await trafficOf(t, () => 403)).saturate(1), /planned/)
})

t.test('a peer that checks no token answers every request with 200', async (t) => {
  t.ok((await (await trafficOf(t, () => 200, false)).saturate(1, true)).requests > 0)
  await t.rejects((await trafficOf(t, planned, false)).saturate(1), /planned/)
})
