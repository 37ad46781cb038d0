/** Exchanges that have ended: counted and logged together, once a stage. */

import type { Exchange } from '../http/server/exchange.ts'
import { nextStage } from '../lib/batched-stages.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Metrics } from '../telemetry/metrics.ts'

export class EndedExchanges {
  readonly #log: AccessLog
  readonly #metrics: Metrics
  readonly #clientOf: (exchange: Exchange) => string | null
  /** Not logged yet. The process may end before their stage runs. */
  readonly #waiting: Exchange[] = []

  /** @param clientOf the address of the client, as trusted proxies name it */
  constructor(log: AccessLog, metrics: Metrics, clientOf: (exchange: Exchange) => string | null) {
    this.#log = log
    this.#metrics = metrics
    this.#clientOf = clientOf
  }

  add(exchange: Exchange): void {
    if (this.#waiting.push(exchange) === 1) nextStage(flush, this)
  }

  flush(): void {
    for (const exchange of this.#waiting) {
      if (exchange.webSocket === null) {
        this.#metrics.countRequest(exchange, exchange.endedAt)
        exchange.trace?.end(exchange, exchange.endedAt)
      }
      this.#log.write(exchange, this.#clientOf(exchange))
    }
    this.#waiting.length = 0
  }
}

function flush(ended: EndedExchanges): void {
  ended.flush()
}
