/** The operators' listener: `/livez`, `/readyz`, `/metrics`. Not for the open internet: no credential is asked for. */

import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address } from '../config/config.ts'
import { type Listener, listen } from './listen.ts'

export interface OpsSource {
  /** What is ready, part by part; ready when every part is `ok`. */
  readiness(): { readonly ready: boolean; readonly parts: Readonly<Record<string, unknown>> }
  /** Prometheus text format, and its content type. */
  metrics(): Promise<{ type: string; text: string }>
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
