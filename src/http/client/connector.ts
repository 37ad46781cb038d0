/** Opens connections to a target: TCP, and TLS for https. */

import type { X509Certificate } from 'node:crypto'
import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import type { UpstreamTls } from '../../config/config.ts'
import { type Validity, validityOf } from '../../config/pem.ts'
import { TargetSessions } from './tls-sessions.ts'

/**
 * PEM texts, as the configuration has read them. Absent or null: the public certificate authorities, no
 * client certificate, the target's host name.
 */
export type TlsSettings = Partial<UpstreamTls>

export interface Address {
  /** A host name, or an IP address without brackets. */
  readonly host: string
  readonly port: number
  /** The options of TLS; null without TLS. */
  readonly tls: TlsOptions | null
}

/** The used subset of the options of Node.js. */
export interface TlsOptions {
  rejectUnauthorized: boolean
  secureContext?: SecureContext
  servername?: string
}

/** Builds the TLS options of an upstream, once. Throws on a faulty setting; the message holds no secret. */
export function tlsOptions(tls: TlsSettings | null): TlsOptions {
  const { ca = null, cert = null, key = null, serverName = null, insecureSkipVerify = false } = tls ?? {}
  if ((cert === null) !== (key === null)) throw new Error('tls: cert and key go together')
  if (serverName !== null && (serverName === '' || isIP(serverName) !== 0))
    throw new Error('tls: server_name is not a host name')
  const options: TlsOptions = {
    // Explicit, as Node.js otherwise reads NODE_TLS_REJECT_UNAUTHORIZED from the environment.
    rejectUnauthorized: !insecureSkipVerify,
    secureContext: createSecureContext({
      // An authority that a file names is trusted by itself, though another one has issued it.
      allowPartialTrustChain: true,
      ca: ca ?? undefined,
      cert: cert ?? undefined,
      key: key ?? undefined,
    }),
  }
  if (serverName !== null) options.servername = serverName
  return options
}

/**
 * Starts to open a connection; `connectEvent` names the event of its completion.
 *
 * @param onread receives the data in place of 'data' events. Over TLS it may still get data of the same
 *   network read after it has returned false
 * @param alpn the only protocol that is offered over TLS
 */
export function openSocket(
  address: Address,
  onread: OnReadOpts | null = null,
  alpn: 'http/1.1' | 'h2' = 'http/1.1',
): Socket {
  const { host, port, tls } = address
  const tcp = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
  const options = onread === null ? tcp : { ...tcp, onread }
  if (tls === null) return connectTcp(options)
  // The name of the target, even if the Host of the client is passed on. SNI takes no IP address, but the
  // certificate check does.
  const servername = tls.servername ?? (isIP(host) === 0 ? host : '')
  const secure = { ...options, ...tls, servername, ALPNProtocols: [alpn] }
  // Without a check of the certificate there is nothing that resumption could rely on.
  if (!tls.rejectUnauthorized) return connectTls(secure)
  const name = servername === '' ? host : servername
  const sessions = new TargetSessions(tls, host, port, name, (shown) => verified(address, tls, shown))
  const session = sessions.offer()
  const socket = connectTls(session === undefined ? secure : { ...secure, session })
  sessions.watch(socket)
  return socket
}

/** The validities by the TLS options of an upstream, and then by the host and port of a target. */
const validities = new WeakMap<TlsOptions, Map<string, Validity>>()

/** The certificate's validity at the last full handshake with this address; null if there was none. */
export function validityAt({ host, port, tls }: Address): Validity | null {
  return tls === null ? null : (validities.get(tls)?.get(`${host} ${port}`) ?? null)
}

function verified({ host, port }: Address, tls: TlsOptions, certificate: X509Certificate): void {
  const byAddress = validities.get(tls) ?? new Map<string, Validity>()
  validities.set(tls, byAddress.set(`${host} ${port}`, validityOf(certificate)))
}

/** The event of a completed connection. With TLS the certificate is verified by then. */
export function connectEvent({ tls }: Address): 'connect' | 'secureConnect' {
  return tls === null ? 'connect' : 'secureConnect'
}

/**
 * Opens a connection for a WebSocket.
 *
 * @param timeout ms for the connection, TLS included
 * @param callback called once
 */
export function connect(
  address: Address,
  timeout: number,
  callback: (error: Error | null, socket: Socket | null) => void,
): void {
  const socket = openSocket(address)
  const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${timeout} ms`)), timeout)
  const failed = (error: Error) => {
    clearTimeout(timer)
    callback(error, null)
  }
  socket.once('error', failed)
  socket.once(connectEvent(address), () => {
    clearTimeout(timer)
    socket.off('error', failed)
    callback(null, socket)
  })
}
