/**
 * Connections to a provider through an HTTP proxy: CONNECT (RFC 9110, section 9.3.6), also for http
 * addresses.
 */

import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type ProviderProxy, proxyText } from '../../config/provider-proxies.ts'
import { request } from '../../lib/node-http.ts'
import { codeOf, ProxyError } from './provider-errors.ts'
import { sanitizeName } from './log-text.ts'

interface TunnelOptions {
  /** ms from the look-up of the proxy's name to its response. */
  readonly timeout: number
  readonly lookup: LookupFunction
}

/** Bytes of the header section of the proxy's response. */
const MAX_HEADER_BYTES = 16 * 1024
/** Error codes of a connection that the proxy closes. */
const CLOSED = new Set(['ECONNRESET', 'EPIPE'])

/**
 * Resolves with a connection that leads to the target, as bytes. Rejects with ProxyError.
 *
 * @param target `host:port`, with brackets around an address of IPv6
 */
export function openTunnel(proxy: ProviderProxy, target: string, options: TunnelOptions): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = openSocket(proxy, options.lookup)
  const fail = (what: string) => {
    clearTimeout(timer)
    socket.destroy()
    reject(new ProxyError(`${proxyText(proxy)} ${what}`, proxy.variable))
  }
  const timer = setTimeout(() => fail(`has not answered within ${options.timeout} ms`), options.timeout)
  const authorization = proxy.authorization === null ? {} : { 'proxy-authorization': proxy.authorization }
  // The connection is given, so no agent is asked: NODE_USE_ENV_PROXY changes agents alone.
  const tunnelRequest = request({
    method: 'CONNECT',
    path: target,
    setHost: false,
    headers: { host: target, ...authorization },
    maxHeaderSize: MAX_HEADER_BYTES,
    createConnection: () => socket,
  })
  tunnelRequest.on('error', (cause) => fail(failureOf(cause)))
  tunnelRequest.once('connect', ({ statusCode = 0 }, _, head: Buffer) => {
    clearTimeout(timer)
    if (statusCode < 200 || statusCode > 299) return fail(refusalOf(statusCode, target))
    // The provider never speaks first, so these bytes would be the proxy's own.
    if (head.length > 0) return fail('sent data before the request')
    resolve(socket)
  })
  tunnelRequest.end()
  return promise
}

function openSocket({ host, port, tls }: ProviderProxy, lookup: LookupFunction): Socket {
  const tcp = { host, port, lookup, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
  if (!tls) return connectTcp(tcp)
  // As for the provider itself.
  const secure = { rejectUnauthorized: true, allowPartialTrustChain: true, ALPNProtocols: ['http/1.1'] }
  return connectTls({ ...tcp, ...secure, servername: isIP(host) === 0 ? host : '' })
}

function failureOf(cause: Error): string {
  const code = codeOf(cause)
  if (code.startsWith('HPE_')) return `sent what is not a response of HTTP/1.1 (${code})`
  return CLOSED.has(code) ? `closed the connection (${code})` : `is unreachable (${code})`
}

function refusalOf(status: number, target: string): string {
  const host = sanitizeName(target)
  return status === 407
    ? `refused a connection to ${host} without the right user name and password (407)`
    : `refused a connection to ${host} (${status})`
}
