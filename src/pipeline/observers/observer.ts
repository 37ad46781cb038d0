/** Observers: mechanisms that learn of decisions and ends, and never change an answer. */

import type { Exchange } from '../../http/server/exchange.ts'
import type { Refusal } from '../../model/errors.ts'

export interface Observer {
  /** The request has its first evaluation. The client may be gone, or get the refusal of a limit instead. */
  evaluated?(exchange: Exchange): void
  /**
   * The request is decided, and is answered or forwarded next.
   *
   * @param refusal the refusal that the client gets; null if the request is allowed
   */
  decided?(exchange: Exchange, refusal: Refusal | null): void
  /** The exchange was allowed before, is still open, and is refused now. */
  revoked?(exchange: Exchange, refusal: Refusal): void
  /**
   * A WebSocket is open: its 101 is sent.
   *
   * @param at monotonic ms
   */
  opened?(exchange: Exchange, at: number): void
  /**
   * The response is complete, or the connection is closed. Called once for each exchange, at the end of the
   * turn of the event loop. The observers of the current configuration learn of it, also of an exchange that
   * began under another one.
   */
  ended?(exchange: Exchange): void
}

/** A list of observers as one. */
export class Observers implements Required<Observer> {
  readonly #all: readonly Observer[]

  constructor(all: readonly Observer[]) {
    this.#all = all
  }

  evaluated(exchange: Exchange): void {
    for (const observer of this.#all) observer.evaluated?.(exchange)
  }

  decided(exchange: Exchange, refusal: Refusal | null): void {
    for (const observer of this.#all) observer.decided?.(exchange, refusal)
  }

  revoked(exchange: Exchange, refusal: Refusal): void {
    for (const observer of this.#all) observer.revoked?.(exchange, refusal)
  }

  opened(exchange: Exchange, at: number): void {
    for (const observer of this.#all) observer.opened?.(exchange, at)
  }

  ended(exchange: Exchange): void {
    for (const observer of this.#all) observer.ended?.(exchange)
  }
}
