/** The WebSockets of the process, from the admitted handshake to their end. */

import type { Exchange } from '../http/server/exchange.ts'
import { openedWebSocket } from '../http/server/open-web-socket.ts'
import { WebSocketShares } from '../proxy/websocket/websocket-shares.ts'
import { GOING_AWAY } from '../proxy/websocket/websocket-frames.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Observer } from './observers/observer.ts'

export class WebSockets implements Observer {
  readonly #metrics: Metrics
  /** Admits handshakes. */
  readonly shares: WebSocketShares
  readonly #open = new Set<Exchange>()
  #draining = false

  constructor(metrics: Metrics) {
    this.#metrics = metrics
    this.shares = new WebSocketShares((by) => metrics.webSocketRefused(by))
  }

  opened(exchange: Exchange): void {
    this.#open.add(exchange)
    this.#metrics.webSocketOpened()
    if (this.#draining) goAway(exchange)
  }

  /** The connection of the handshake or of the WebSocket is closed. */
  ended(exchange: Exchange): void {
    if (!exchange.handshake) return
    this.shares.ended(exchange)
    if (this.#open.delete(exchange))
      this.#metrics.webSocketEnded(openedWebSocket.get(exchange)?.endedBy ?? 'client')
  }

  /** Closes all WebSockets, and those that open from now on, with status 1001 (RFC 6455, section 7.4.1). */
  drain(): void {
    this.#draining = true
    for (const exchange of [...this.#open]) goAway(exchange)
  }
}

function goAway(exchange: Exchange): void {
  openedWebSocket.get(exchange)?.close('drain', GOING_AWAY, 'going away')
}
