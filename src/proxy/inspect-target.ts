/** Reaches a target as requests do, without one. A health check follows if one is configured. */

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { UpstreamConfig } from '../config/config.ts'
import { type Validity, validityOf } from '../config/pem.ts'
import { type Address, connectEvent, openSocket, tlsOptions } from '../http/client/connector.ts'
import { Http2Connection } from '../http/client/http2-client-connection.ts'
import { ClientClosed } from '../http/client/upstream-request.ts'
import { checkOnce } from './health-checks.ts'
import { addressOf } from './target.ts'

interface TargetInspection {
  /** The validity of the server's certificate; null without TLS, or where it is not verified. */
  readonly validity: Validity | null
  /** The reason why a health check fails; null if it passes, or if none is configured. */
  readonly unhealthy: Error | null
}

/**
 * Milliseconds for an alert after the handshake: in TLS 1.3 the server reads the client's certificate after
 * the client has completed it.
 */
const ALERT_TIME = 1000

/**
 * Rejects with an error of the network or of TLS, or with one of the code TIMEOUT.
 *
 * @param timeout ms for the connection, TLS included
 */
export async function inspectTarget(
  url: URL,
  { tls, health, protocol }: Pick<UpstreamConfig, 'tls' | 'health' | 'protocol'>,
  timeout: number,
): Promise<TargetInspection> {
  const options = tlsOptions(tls)
  const address = addressOf(url, options)
  const { socket, certificate } = await opened(address, timeout, protocol === 'h2' ? 'h2' : 'http/1.1')
  const validity = tls?.insecureSkipVerify === true ? null : certificate
  socket.destroy()
  if (protocol !== 'http1') await probeHttp2(address, url.host, timeout)
  const fault = health === null ? null : await checkOnce(url, health, options, protocol)
  const unhealthy = fault === null || fault instanceof Error ? fault : new Error(String(fault))
  return { validity, unhealthy }
}

interface Opened {
  readonly socket: Socket
  /** The validity of the server's certificate; null without TLS. */
  readonly certificate: Validity | null
}

function opened(address: Address, timeout: number, alpn: 'http/1.1' | 'h2'): Promise<Opened> {
  const { promise, resolve, reject } = Promise.withResolvers<Opened>()
  const socket = openSocket(address, null, alpn)
  let certificate: Validity | null = null
  const finish = () => resolve({ socket, certificate })
  // Before the check of sessions: getPeerX509Certificate of Node.js 22 and 24 takes the certificate away.
  socket.prependOnceListener(connectEvent(address), () => (certificate = certificateOf(socket)))
  const timedOut = Object.assign(new Error('no connection in time'), { code: 'TIMEOUT' })
  const timer = setTimeout(() => socket.destroy(timedOut), timeout)
  socket.once('error', reject)
  socket.once('close', () => {
    clearTimeout(timer)
    reject(Object.assign(new Error('the connection was closed'), { code: 'ECONNRESET' }))
  })
  socket.once(connectEvent(address), () => {
    clearTimeout(timer)
    if (!(socket instanceof TLSSocket) || socket.getProtocol() !== 'TLSv1.3') return finish()
    // The server sends session tickets once it has accepted the handshake.
    const accepted = setTimeout(finish, ALERT_TIME)
    socket.once('session', finish)
    socket.once('close', () => clearTimeout(accepted))
  })
  return promise
}

function certificateOf(socket: Socket): Validity | null {
  if (!(socket instanceof TLSSocket)) return null
  const { valid_from: validFrom, valid_to: validTo } = socket.getPeerCertificate()
  return validityOf({ validFrom, validTo })
}

/**
 * Asks a target whether it speaks HTTP/2, without a request. Resolves when the target has sent its SETTINGS.
 * Rejects with a NoHttp2, or an error of the network or of TLS.
 *
 * @param timeout ms for all of it
 */
function probeHttp2(address: Address, authority: string, timeout: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const times = { connectTimeout: timeout, bodyTimeout: timeout, keepAlive: timeout, keepAliveMax: timeout }
  new Http2Connection(
    { ...address, authority, ...times },
    {
      connectionReady(connection) {
        resolve()
        connection.close(new ClientClosed('closed'))
      },
      connectionDraining() {},
      connectionClosed(_, error) {
        reject(error)
      },
      requestReturned() {},
      uploadFinished() {},
    },
  )
  return promise
}
