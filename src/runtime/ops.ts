/** The operators' listener: `/livez`, `/readyz`, `/metrics`. Not for the open internet: no credential is asked for. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP, isIPv6 } from 'node:net'
import type { Address } from '../config/config.ts'
import { type Listener, listen } from '../http/server/listen.ts'

export interface OpsSource {
  /** What is ready, part by part; ready when every part is `ok`. */
  readiness(): { readonly ready: boolean; readonly parts: Readonly<Record<string, unknown>> }
  /** Prometheus text format, and its content type. */
  metrics(): Promise<{ type: string; text: string }>
  /** Host names that are answered to beside addresses and `localhost`: in lower case, without port. */
  hosts(): readonly string[]
}

/** Node.js closes after 5 s: in between two scrapes, and now and then under the hands of who is about to ask again. */
const KEEP_ALIVE_TIMEOUT = 75_000

export async function openOps(address: Address, source: OpsSource): Promise<Listener> {
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 10_000,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
  })
  server.on('request', (request, response) => {
    request.resume()
    if (!isOurs(request, source.hosts())) return text(response, 421, MISDIRECTED)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return text(response, 405, 'GET or HEAD\n')
    }
    const path = request.url?.split('?', 1)[0]
    if (path === '/livez') return text(response, 200, 'ok\n')
    if (path === '/readyz') return ready(response, source)
    if (path === '/metrics') return void metrics(response, source)
    return text(response, 404, '/livez, /readyz, /metrics\n')
  })
  await listen(server, address)
  // No file left for a connection: an error that nobody listens for would end the process.
  server.on('error', () => {})
  return {
    address: server.address() as AddressInfo,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const MISDIRECTED =
  'This listener answers to IP addresses, localhost and the names that ops_hosts of the configuration lists.\n'

/**
 * A page of any site can have its own name lead here (DNS rebinding), and then read answers as its own: the browser names
 * that site in Host. An address can't be anybody's site. HTTP/1.0 has no Host, and no browser speaks it.
 */
function isOurs({ headersDistinct }: IncomingMessage, names: readonly string[]): boolean {
  const [value, ...more] = headersDistinct.host ?? []
  if (value === undefined) return true
  const [, bracketed, plain = ''] = /^(?:\[([^[\]]*)\]|([^:[\]]*))(?::[0-9]{1,5})?$/.exec(value) ?? []
  if (more.length > 0) return false
  if (bracketed !== undefined) return isIPv6(bracketed)
  const name = plain.toLowerCase().replace(/\.$/, '')
  return isIP(name) === 4 || name === 'localhost' || names.includes(name)
}

function ready(response: ServerResponse, source: OpsSource): void {
  const { ready, parts } = source.readiness()
  const body = JSON.stringify({ status: ready ? 'ready' : 'not_ready', ...parts })
  send(response, ready ? 200 : 503, 'application/json', `${body}\n`)
}

async function metrics(response: ServerResponse, source: OpsSource): Promise<void> {
  try {
    const { type, text: body } = await source.metrics()
    send(response, 200, type, body)
  } catch (error) {
    text(response, 500, `${error instanceof Error ? error.message : 'metrics failed'}\n`)
  }
}

function text(response: ServerResponse, status: number, body: string): void {
  send(response, status, 'text/plain; charset=utf-8', body)
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  })
  response.end(body)
}
