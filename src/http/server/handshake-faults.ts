/** Why a TLS handshake failed, in words of a fixed number, for metrics and log lines. */

/**
 * `version`: an older version of TLS. `server_name`: no certificate has the name. `client_certificate`:
 * missing or invalid. `alpn`: no common protocol. `cipher`: no common cipher. `not_tls`: for example plain
 * HTTP. `timeout`: not complete in time. `client_alert`: the client refused, for example because it does not
 * trust the certificate. `closed`: the client left.
 */
type HandshakeReason =
  | 'version'
  | 'server_name'
  | 'client_certificate'
  | 'alpn'
  | 'cipher'
  | 'not_tls'
  | 'timeout'
  | 'client_alert'
  | 'closed'
  | 'other'

export interface HandshakeFault {
  readonly reason: HandshakeReason
  /** The code of the error, or the name that the client asked for. */
  readonly detail: string
}

/** The client asked for a name that no certificate has. */
export class UnknownServerName extends Error {
  readonly servername: string

  constructor(servername: string) {
    super('no certificate has the server name')
    this.servername = servername
  }
}

const REASONS: readonly (readonly [RegExp, HandshakeReason])[] = [
  [/^ERR_SSL_(?:UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW)$/, 'version'],
  [/^ERR_SSL_NO_APPLICATION_PROTOCOL$/, 'alpn'],
  [/^ERR_SSL_(?:NO_SHARED_CIPHER|NO_SUITABLE_)/, 'cipher'],
  [/^ERR_SSL_(?:PEER_DID_NOT_RETURN_A_CERTIFICATE|CERTIFICATE_VERIFY_FAILED)$/, 'client_certificate'],
  [/^ERR_SSL_(?:HTTP_REQUEST|HTTPS_PROXY_REQUEST|WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/, 'not_tls'],
  [/ALERT/, 'client_alert'],
  [/^(?:ECONNRESET|EPIPE)$/, 'closed'],
]

/** @param authorizationError the code of the client certificate's fault, if it has one */
export function handshakeFault(error: Error, authorizationError: unknown): HandshakeFault {
  if (error instanceof UnknownServerName) return { reason: 'server_name', detail: error.servername }
  if (typeof authorizationError === 'string' && authorizationError !== '')
    return { reason: 'client_certificate', detail: authorizationError }
  const code = 'code' in error ? String(error.code) : ''
  return { reason: REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? 'other', detail: code }
}
