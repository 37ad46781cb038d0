/** A forward proxy on loopback, which opens connections by CONNECT, also to names that it alone knows. */

import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { listen } from '../listen.ts'

/** A server of TLS has a certificate. */
export interface ForwardProxyOptions {
  readonly tls?: { readonly cert: string; readonly key: string }
  /** `user:password`; left out: the proxy asks for none. */
  readonly credentials?: string
}

export class ForwardProxy {
  readonly port: number
  /** `host:port` of each CONNECT that it allowed. */
  readonly targets: string[] = []
  /** Methods and targets of all other requests. */
  readonly others: string[] = []
  /** `host:port` → the port on loopback; without an entry the proxy answers 502. */
  readonly routes = new Map<string, number>()
  /** What it writes to each CONNECT, in place of its work. */
  instead: string | null = null
  readonly #credentials: string | null

  private constructor(port: number, credentials: string | null) {
    this.port = port
    this.#credentials = credentials
  }

  static async start(t: Pick<Test, 'teardown'>, options: ForwardProxyOptions = {}): Promise<ForwardProxy> {
    const { tls, credentials = null } = options
    const server = tls === undefined ? createServer() : createSecureServer(tls)
    const port = await listen(t, server)
    const proxy = new ForwardProxy(port, credentials)
    server.on('connect', (request: IncomingMessage, socket: Socket) => proxy.#connect(t, request, socket))
    server.on('request', ({ method, url }, response) => {
      proxy.others.push(`${method} ${url}`)
      response.writeHead(501).end()
    })
    return proxy
  }

  #connect(t: Pick<Test, 'teardown'>, { url = '', headers }: IncomingMessage, socket: Socket): void {
    socket.on('error', () => {})
    if (this.instead !== null) return void socket.end(this.instead)
    const expected = `Basic ${Buffer.from(this.#credentials ?? '').toString('base64')}`
    if (this.#credentials !== null && headers['proxy-authorization'] !== expected)
      return void socket.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\n\r\n',
      )
    const port = this.routes.get(url)
    if (port === undefined) return void socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    this.targets.push(url)
    const target = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(target).pipe(socket)
    })
    target.on('error', () => socket.destroy()).on('close', () => socket.destroy())
    socket.on('close', () => target.destroy())
    t.teardown(() => target.destroy())
  }
}
