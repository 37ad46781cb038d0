/**
 * The operators' listener: `/livez`, `/readyz`, `/metrics`. It requires no credential: keep it off the
 * internet.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, isIP, isIPv6 } from 'node:net'
import type { Address } from '../config/config.ts'
import { type Listener, listen } from '../http/server/listen.ts'
import { createServer } from '../lib/node-http.ts'

export interface OpsSource {
  /** The readiness of each part. */
  readiness(): { readonly ready: boolean; readonly parts: Readonly<Record<string, unknown>> }
  /** The metrics in the Prometheus text format, with its content type. */
  metrics(): Promise<{ type: string; text: string }>
  /** The host names that are accepted besides addresses and `localhost`: in lower case, without port. */
  hosts(): readonly string[]
}

/** Node.js' 5 s close connections between scrapes, sometimes while the next scrape is being sent. */
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
    if (!hasAcceptedHost(request, source.hosts())) return text(response, 421, MISDIRECTED)
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
  // Accepting fails when the process has no file descriptors left: an unhandled error event would end the
  // process.
  server.on('error', () => {})
  return {
    address: server.address() as AddressInfo,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const MISDIRECTED = 'This listener accepts IP addresses, localhost and the names in ops_hosts as Host.\n'

/**
 * Protects against DNS rebinding: a website whose name resolves to this address could read responses as
 * same-origin, and its browser sends the site's name in Host. An IP address can't be such a site. HTTP/1.0
 * has no Host, and no browser uses it.
 */
function hasAcceptedHost({ headersDistinct }: IncomingMessage, names: readonly string[]): boolean {
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
