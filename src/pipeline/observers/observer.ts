/** Observers: mechanisms that learn of decisions and ends, and never change an answer. */

import type { Exchange } from '../../http/server/exchange.ts'
import type { Refusal } from '../../model/errors.ts'

export interface Observer {
  /**
   * The request is decided, and is answered or forwarded next.
   *
   * @param refusal the refusal that the client gets; null: the request is allowed
   */
  decided?(exchange: Exchange, refusal: Refusal | null): void
  /** The exchange was allowed before, is still open, and is refused now. */
  revoked?(exchange: Exchange, refusal: Refusal): void
  /** The response is complete, or the connection is closed. Called once for all exchanges that ended in a turn of the event loop. */
  ended?(exchange: Exchange): void
}

/** A list of observers as one. */
export class Observers implements Required<Observer> {
  readonly #all: readonly Observer[]

  constructor(all: readonly Observer[]) {
    this.#all = all
  }

  decided(exchange: Exchange, refusal: Refusal | null): void {
    for (const observer of this.#all) observer.decided?.(exchange, refusal)
  }

  revoked(exchange: Exchange, refusal: Refusal): void {
    for (const observer of this.#all) observer.revoked?.(exchange, refusal)
  }

  ended(exchange: Exchange): void {
    for (const observer of this.#all) observer.ended?.(exchange)
  }
}
