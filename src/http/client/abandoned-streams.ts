/**
 * The requests of an HTTP/2 connection that end before their responses. Each end is a reset to the target,
 * and many targets end a connection after too many resets, with the requests of other clients on it. A
 * connection therefore has a budget of resets. Without budget, the gateway sends none: it reads and drops the
 * response, up to the window of the stream, until there is budget again.
 */

import { EventBudget, type EventLimits } from '../../lib/event-budget.ts'
import { CANCEL } from '../wire/http2/http2-errors.ts'
import type { Http2Stream } from '../wire/http2/stream.ts'

/**
 * Servers end a connection beyond a number of their own: Netty and Undertow for more than 200 in 30 seconds,
 * Envoy for more than half of 500, Node.js for more than 1,000 at once or 33 a second.
 */
const RESETS: EventLimits = { burst: 50, rate: 4 }
/** The share of the streams of a connection. */
const MAX_ABANDONED = 1 / 4

export class AbandonedStreams {
  readonly #resets = new EventBudget(RESETS)
  /** Not reset. They take room until the target ends them, oldest first. */
  readonly #all = new Set<Http2Stream>()

  get size(): number {
    return this.#all.size
  }

  /** @param code of RST_STREAM */
  giveUp(stream: Http2Stream, code: number): void {
    if (stream.closed) return
    if (this.#all.size === 0 && this.#resets.take()) return stream.reset(code)
    stream.abandon()
    this.#all.add(stream)
    this.resetSome()
  }

  /** They take up too much of a connection with this number of streams. */
  areMany(streams: number): boolean {
    return this.#all.size > streams * MAX_ABANDONED
  }

  /** Called from time to time. */
  resetSome(): void {
    for (const stream of this.#all) {
      if (!this.#resets.take()) return
      stream.reset(CANCEL)
    }
  }

  /**
   * A stream is closed.
   *
   * @returns whether it was one of them
   */
  delete(stream: Http2Stream): boolean {
    return this.#all.size > 0 && this.#all.delete(stream)
  }
}
