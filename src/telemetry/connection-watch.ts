/** Metrics and rate-limited log lines of connection events. */

import { Counter, Gauge } from 'prom-client'
import type { ListenerEvents } from '../http/server/listener-options.ts'
import type { Log } from './logger.ts'
import type { Metrics } from './metrics.ts'
import { rateLimited } from './rate-limited.ts'

export function watchConnections(
  { registry }: Metrics,
  { logger }: Log,
  counts: () => Readonly<Record<string, number>>,
): ListenerEvents {
  const registers = [registry]
  new Gauge({
    name: 'seatgate_connections',
    help: 'Open client connections: opening (no complete header section yet), active, idle, lingering (waiting to close).',
    labelNames: ['state'],
    registers,
    collect() {
      for (const [state, count] of Object.entries(counts())) this.set({ state }, count)
    },
  })
  const refused = new Counter({
    name: 'seatgate_connections_refused_total',
    help: 'Connections refused before a request was read: limit and address (503), proxy_protocol (closed), system (no file descriptor).',
    labelNames: ['reason'],
    registers,
  })
  const evicted = new Counter({
    name: 'seatgate_connections_evicted_total',
    help: 'Connections closed to make room for others, by their state: idle, opening, slow, or active (if their address had far more than others).',
    labelNames: ['state'],
    registers,
  })
  const relieved = new Counter({
    name: 'seatgate_connections_relieved_total',
    help: 'Connections closed because memory.connections was reached, by what they held: head (a partial header section, 503), ahead (pipelined requests), request (cut).',
    labelNames: ['of'],
    registers,
  })
  const handshakes = new Counter({
    name: 'seatgate_tls_handshakes_total',
    help: 'Completed TLS handshakes of clients, by version and by whether a session was resumed.',
    labelNames: ['version', 'resumed'],
    registers,
  })
  const handshakesFailed = new Counter({
    name: 'seatgate_tls_handshakes_failed_total',
    help: 'Failed TLS handshakes of clients, by reason: version (older than min_version), server_name (no certificate has it), client_certificate, alpn, cipher, not_tls (such as plain HTTP), timeout, client_alert (the client refused), closed (the client left), other.',
    labelNames: ['reason'],
    registers,
  })
  for (const what of ['head', 'ahead', 'request']) relieved.inc({ of: what }, 0)
  for (const reason of ['limit', 'address', 'proxy_protocol', 'system']) refused.inc({ reason }, 0)
  for (const state of ['idle', 'opening', 'slow', 'active']) evicted.inc({ state }, 0)
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
  const sessions = new Counter({
    name: 'seatgate_http2_connections_ended_total',
    help: 'HTTP/2 connections that the gateway ended because of the client, by the error code in GOAWAY (RFC 9113, section 7).',
    labelNames: ['code'],
    registers,
  })
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
