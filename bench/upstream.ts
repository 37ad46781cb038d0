/**
 * The upstream in Node.js, in a process of its own: small JSON, as fast as Node.js gives it, and the sizes that
 * `upstreams.ts` speaks of. Told two ports, it listens there, by TLS on the second one. Forked without, as by
 * `scale/servers.ts`, it tells its parent the port, and ends with it.
 */

import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { CERTIFICATES } from '../test/support/servers/tls.ts'
import { filler, SIZES, SMALL } from './answers.ts'

const PREFIX = '/v1/sizes/'
const sized = new Map(Object.entries(SIZES).map(([name, size]) => [PREFIX + name, filler(size)]))

/** Once the body has come. */
const answer: RequestListener = (request, response) => {
  const body = sized.get(request.url ?? '') ?? SMALL
  request.resume()
  if (request.method === 'GET') send(response, body)
  else request.once('end', () => send(response, body))
}

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(body.length)])
  response.end(body)
}

const host = '127.0.0.1'
const keepAliveTimeout = 600_000
const [port = 0, tlsPort] = process.argv.slice(2).map(Number)
const server = createServer({ keepAliveTimeout }, answer)
server.listen({ host, port, backlog: 4096 }, () => process.send?.((server.address() as AddressInfo).port))
if (tlsPort !== undefined)
  createTlsServer({ ...CERTIFICATES.server, keepAliveTimeout }, answer).listen({ host, port: tlsPort })
process.on('disconnect', () => process.exit())
