/** Opens the connections to a target: TCP, and TLS where it is https. */

import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net'
import {
  connect as connectTls,
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls'
import type { buildConnector } from 'undici'
import { certificateFault } from '../../config/certificates.ts'
import { loadUndici } from './undici.ts'

/** PEM texts, not paths. */
export interface TlsSettings {
  /** In place of the public authorities. */
  readonly ca?: string | Buffer | null
  /** The gateway's own certificate, with those between it and its authority, and its key: both or neither. */
  readonly cert?: string | Buffer | null
  readonly key?: string | Buffer | null
  /** The name asked for, and looked for in the certificate, in place of the target's. */
  readonly serverName?: string | null
  /** Takes any certificate: whoever is on the way can then read and change everything. */
  readonly insecureSkipVerify?: boolean
}

export interface Address {
  /** A name, or an IP address without brackets. */
  readonly host: string
  readonly port: number
  /** null: without TLS. */
  readonly tls: TlsOptions | null
}

/** The part of Node.js' options that is used here. */
export interface TlsOptions {
  rejectUnauthorized: boolean
  secureContext?: SecureContext
  servername?: string
}

/** TLS as it is asked for; made once for an upstream. Throws on what can't be read, with no secret in the message. */
export function tlsOptions(tls: TlsSettings | null): TlsOptions {
  // Always said: Node.js would otherwise take NODE_TLS_REJECT_UNAUTHORIZED from the environment.
  if (tls === null) return { rejectUnauthorized: true }
  const { ca = null, cert = null, key = null, serverName = null, insecureSkipVerify = false } = tls
  if (ca !== null) checkCertificates('ca', ca)
  if (cert !== null) checkCertificates('cert', cert)
  if ((cert === null) !== (key === null)) throw new Error('tls: cert and key go together')
  if (serverName !== null && (serverName === '' || isIP(serverName) !== 0))
    throw new Error('tls: server_name is not a host name')
  const options: TlsOptions = {
    rejectUnauthorized: !insecureSkipVerify,
    secureContext: secureContext(ca, cert, key),
  }
  if (serverName !== null) options.servername = serverName
  return options
}

type Pem = string | Buffer | null

function secureContext(ca: Pem, cert: Pem, key: Pem): SecureContext {
  const options: SecureContextOptions = {}
  if (ca !== null) options.ca = ca
  if (cert !== null) options.cert = cert
  if (key !== null) options.key = key
  return createSecureContext(options)
}

function checkCertificates(name: string, pem: string | Buffer): void {
  const fault = certificateFault(pem.toString('latin1'))
  if (fault !== null) throw new Error(`tls: ${name} ${fault}`)
}

/**
 * Begins to open a connection; `standing` says when it is one.
 *
 * @param onread told of what comes in place of 'data'. Over TLS it may be told of some more when it has returned false:
 *   of what had come by then, in one read from the network
 */
export function openSocket({ host, port, tls }: Address, onread: OnReadOpts | null = null): Socket {
  const tcp = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }
  const options = onread === null ? tcp : { ...tcp, onread }
  if (tls === null) return connectTcp(options)
  // The target's, also where the client's Host is passed on. An address is no name to ask for, but is looked for.
  const servername = tls.servername ?? (isIP(host) === 0 ? host : '')
  // No session is resumed: the certificate would not be looked at again.
  return connectTls({ ...options, ...tls, servername, ALPNProtocols: ['http/1.1'] })
}

/** The event at which it stands: over TLS the other side is known by then. */
export function connectEvent({ tls }: Address): 'connect' | 'secureConnect' {
  return tls === null ? 'connect' : 'secureConnect'
}

/**
 * A connection for a WebSocket.
 *
 * @param timeout ms until it stands
 * @param callback told once
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

/** As undici's clients take it. @param timeout ms until a connection stands, TLS included */
export function undiciConnector(timeout: number, tls: TlsOptions): buildConnector.connector {
  const undiciConnect = loadUndici().buildConnector({ ...tls, allowH2: false, timeout })
  // '' makes the certificate be checked against the target's name.
  return (options, callback) => undiciConnect({ ...options, servername: '' }, callback)
}
