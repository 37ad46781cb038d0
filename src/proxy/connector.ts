/**
 * Opens the connections to a target: TCP, and TLS where it is https. Used by `target.ts` for traffic and by `health.ts`
 * for checks.
 */

import { X509Certificate } from 'node:crypto'
import { isIP, type Socket } from 'node:net'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import type { buildConnector } from 'undici'
import { loadUndici } from './undici.ts'
import type { TlsSettings } from './upstream-options.ts'

/** The part of Node.js' options that is used here. */
export interface TlsOptions {
  rejectUnauthorized: boolean
  secureContext?: SecureContext
  servername?: string
}

/** TLS as undici's connector takes it; made once for an upstream. Throws on what can't be read, with no secret in the message. */
export function tlsOptions(tls: TlsSettings | null): TlsOptions {
  // Always said: Node.js would otherwise take NODE_TLS_REJECT_UNAUTHORIZED from the environment.
  if (tls === null) return { rejectUnauthorized: true }
  const { ca = null, cert = null, key = null, serverName = null, insecureSkipVerify = false } = tls
  if (ca !== null) readCertificates('ca', ca)
  if (cert !== null) readCertificates('cert', cert)
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

/** OpenSSL passes over what it can't read, and with an empty list of authorities Node.js would trust the public ones. */
function readCertificates(name: string, pem: string | Buffer): void {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
  if (blocks === null) throw new Error(`tls: ${name} holds no certificate in PEM`)
  try {
    for (const block of blocks) new X509Certificate(block)
  } catch {
    throw new Error(`tls: ${name} holds a certificate that can not be read`)
  }
}

export class Connector {
  readonly connect: buildConnector.connector
  /** Errors of connections that had carried an answer before they died. */
  readonly #afterUse = new WeakSet<Error>()

  /** @param timeout ms until a connection stands, TLS included */
  constructor(timeout: number, tls: TlsOptions) {
    const connect = loadUndici().buildConnector({ ...tls, allowH2: false, timeout })
    const afterUse = this.#afterUse
    function onError(this: Socket, error: NodeJS.ErrnoException) {
      // Over TLS, too, these are bytes of HTTP.
      if (this.bytesRead > 0) afterUse.add(error)
      // By this code undici would take a reset for the end of a body that has no length: a part would look whole.
      if (error.code === 'ECONNRESET') error.code = 'UPSTREAM_RESET'
    }
    // '' makes the certificate be checked against the target's name, also where the client's Host is passed on.
    this.connect = (options, callback) =>
      connect({ ...options, servername: '' }, (...result) => {
        result[1]?.on('error', onError)
        callback(...result)
      })
  }

  /** A connection that had been used and was kept died with this error. Servers close idle ones; it means nothing. */
  diedAfterUse(error: Error): boolean {
    return this.#afterUse.has(error)
  }
}
