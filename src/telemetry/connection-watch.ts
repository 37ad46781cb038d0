/** Metrics and rate-limited log lines of connection events. */

import type { ListenerEvents } from '../http/server/listener-options.ts'
import type { Log } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { rateLimited } from './rate-limited.ts'

export function watchConnections(
  metrics: Metrics,
  { logger }: Log,
  counts: () => Readonly<Record<string, number>>,
): ListenerEvents {
  metrics.read(
    'gauge',
    'seatgate_connections',
    'Open client connections: opening (no complete header section yet), active, idle, lingering (waiting to close).',
    () => Object.entries(counts()).map(([state, value]) => ({ labels: { state }, value })),
  )
  const refused = metrics.counter(
    'seatgate_connections_refused_total',
    'Connections refused before a request was read: limit and address (503), proxy_protocol (closed), system (no file descriptor).',
    ['reason'],
    ['limit', 'address', 'proxy_protocol', 'system'],
  )
  const evicted = metrics.counter(
    'seatgate_connections_evicted_total',
    'Connections closed to make room for others, by their state: idle, opening, slow, or active (if their address had far more than others).',
    ['state'],
    ['idle', 'opening', 'slow', 'active'],
  )
  const relieved = metrics.counter(
    'seatgate_connections_relieved_total',
    'Connections closed because memory.connections was reached, by what they held: head (a partial header section, 503), ahead (pipelined requests), request (cut).',
    ['of'],
    ['head', 'ahead', 'request'],
  )
  const handshakes = metrics.counter(
    'seatgate_tls_handshakes_total',
    'Completed TLS handshakes of clients, by version and by whether a session was resumed.',
    ['version', 'resumed'],
  )
  const handshakesFailed = metrics.counter(
    'seatgate_tls_handshakes_failed_total',
    'Failed TLS handshakes of clients, by reason: version (older than min_version), server_name (no certificate has it), client_certificate, alpn, cipher, not_tls (such as plain HTTP), timeout, client_alert (the client refused), closed (the client left), other.',
    ['reason'],
  )
  const addressFull = rateLimited(
    logger,
    'connections are refused: an address has reached limits.connections_per_address',
  )
  const full = rateLimited(logger, 'connections are refused: limits.connections is reached')
  const violation = rateLimited(logger, 'a connection is closed: it violated the PROXY protocol')
  const handshakeLines = new Map<string, (fields: object) => void>()
  const handshakeLine = (reason: string) => {
    const line =
      handshakeLines.get(reason) ?? rateLimited(logger, 'a TLS handshake failed: the connection is closed')
    handshakeLines.set(reason, line)
    return line
  }
  const sessions = metrics.counter(
    'seatgate_http2_connections_ended_total',
    'HTTP/2 connections that the gateway ended because of the client, by the error code in GOAWAY (RFC 9113, section 7).',
    ['code'],
  )
  const sessionFailed = rateLimited(logger, 'an HTTP/2 connection is closed: the client broke its rules')
  const unavailable = rateLimited(logger, 'the system opens no further connections')
  return {
    refused(by) {
      refused.inc({ reason: by })
      if (by === 'address') addressFull({})
      else full({})
    },
    memoryFreed: (of) => relieved.inc({ of }),
    evicted: (state) => evicted.inc({ state }),
    proxyHeaderRejected(reason, peer) {
      refused.inc({ reason: 'proxy_protocol' })
      violation({ reason, peer })
    },
    handshakeCompleted(version, resumed) {
      handshakes.inc({ version, resumed: String(resumed) })
    },
    handshakeFailed({ reason, detail }, listener, peer) {
      handshakesFailed.inc({ reason })
      // Probes of load balancers open and close connections.
      if (reason !== 'closed') handshakeLine(reason)({ reason, detail, listener, peer })
    },
    sessionFailed(code, reason, peer) {
      sessions.inc({ code })
      sessionFailed({ reason, code, peer })
    },
    unavailable(cause) {
      refused.inc({ reason: 'system' })
      unavailable({ cause: cause.message })
    },
  }
}
