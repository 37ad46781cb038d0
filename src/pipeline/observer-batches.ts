/** Passes exchanges that have ended to the observers, in one batch for each turn of the event loop. */

import type { Exchange } from '../http/server/exchange.ts'
import { inBatch } from '../lib/batched-steps.ts'

export class EndedExchanges {
  readonly #observe: (exchange: Exchange) => void
  /** Not observed yet. The process may end before their batch runs. */
  readonly #waiting: Exchange[] = []

  constructor(observe: (exchange: Exchange) => void) {
    this.#observe = observe
  }

  add(exchange: Exchange): void {
    if (this.#waiting.push(exchange) === 1) inBatch(flush, this)
  }

  flush(): void {
    // Taken out first, so that an observer that throws does not stop the next turn.
    for (const exchange of this.#waiting.splice(0)) this.#observe(exchange)
  }
}

function flush(ended: EndedExchanges): void {
  ended.flush()
}
