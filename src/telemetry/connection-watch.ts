/** Metrics and rate-limited log lines of connection events. */

import type { Logger } from 'pino'
import { Counter, Gauge } from 'prom-client'
import type { ListenerEvents } from '../http/server/listener-options.ts'
import type { Log } from './logger.ts'
import type { Metrics } from './metrics.ts'

/** Milliseconds between two lines of one kind: an attack must not fill the disk. */
const BETWEEN_LINES = 10_000

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
    help: 'Connections closed to make room for another, by their state: idle, opening, slow; active, where their address had far more than others.',
    labelNames: ['state'],
    registers,
  })
  const relieved = new Counter({
    name: 'seatgate_connections_relieved_total',
    help: 'Connections closed because memory.connections was reached, by what they held: head (a partial header section, 503), ahead (pipelined requests), request (cut).',
    labelNames: ['of'],
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
    unavailable(cause) {
      refused.inc({ reason: 'system' })
      unavailable({ cause: cause.message })
    },
  }
}

/** Writes the first line at once, counts those of the next interval, and adds their number to the line after it. */
function rateLimited(logger: Logger, message: string): (fields: object) => void {
  let next = 0
  let suppressed = 0
  return (fields) => {
    const now = performance.now()
    if (now < next) return void suppressed++
    logger.warn({ ...fields, ...(suppressed > 0 ? { more_before: suppressed } : {}) }, message)
    next = now + BETWEEN_LINES
    suppressed = 0
  }
}
