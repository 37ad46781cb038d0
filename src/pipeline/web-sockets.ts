/** The WebSockets of the process, from the admitted handshake to their end. */

import { performance } from 'node:perf_hooks'
import type { Exchange } from '../http/server/exchange.ts'
import { openedWebSocket } from '../http/server/open-web-socket.ts'
import { requestTrace } from '../http/server/request-trace.ts'
import type { Refusal } from '../model/errors.ts'
import type { TrustedProxies } from '../proxy/forwarded.ts'
import { type WebSocketLimits, WebSocketShares } from '../proxy/websocket/websocket-shares.ts'
import { GOING_AWAY } from '../proxy/websocket/websocket-protocol.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export interface WebSocketsConfig {
  readonly trustedProxies: TrustedProxies
  readonly limits: WebSocketLimits
}

export class WebSockets {
  readonly #metrics: Metrics
  readonly #shares: WebSocketShares
  readonly #open = new Set<Exchange>()
  #config: WebSocketsConfig
  #draining = false

  constructor(metrics: Metrics, config: WebSocketsConfig) {
    this.#metrics = metrics
    this.#shares = new WebSocketShares((by) => metrics.webSocketRefused(by))
    this.#config = config
  }

  configure(config: WebSocketsConfig): void {
    this.#config = config
  }

  /** For an allowed handshake. @returns null if it is admitted */
  admit(exchange: Exchange): Refusal | null {
    const { trustedProxies, limits } = this.#config
    return this.#shares.admit(exchange, trustedProxies, limits)
  }

  /** The 101 is sent. */
  readonly opened = (exchange: Exchange): void => {
    this.#open.add(exchange)
    this.#metrics.requestEnded()
    const now = performance.now()
    this.#metrics.countRequest(exchange, now)
    this.#metrics.webSocketOpened()
    requestTrace.get(exchange)?.end(exchange, now)
    if (this.#draining) goAway(exchange)
  }

  /** The connection of the handshake or of the WebSocket is closed. */
  ended(exchange: Exchange): void {
    this.#shares.ended(exchange)
    if (this.#open.delete(exchange))
      this.#metrics.webSocketEnded(openedWebSocket.get(exchange)?.endedBy ?? 'client')
    else this.#metrics.requestEnded()
  }

  /** Closes those that are open, and those that open from now on, with status 1001 (RFC 6455, section 7.4.1). */
  drain(): void {
    this.#draining = true
    for (const exchange of [...this.#open]) goAway(exchange)
  }
}

function goAway(exchange: Exchange): void {
  openedWebSocket.get(exchange)?.close('drain', GOING_AWAY, 'going away')
}
