/**
 * Counts what a peer makes a connection do without a purpose: resets, pings, settings, empty frames. Each
 * kind has a budget that refills with time, and with what the connection serves. A peer that exceeds one is
 * not served any longer (CVE-2023-44487, CVE-2025-8671, CVE-2019-9511 to 9518).
 * `pipeline/stages/limit-cancels.ts` limits each client of a trusted proxy.
 */

import { EventBudget, type EventLimits } from '../../../lib/event-budget.ts'
import { ENHANCE_YOUR_CALM, Http2Error } from './http2-errors.ts'

/** Browsers cancel a page's requests at once, and gRPC clients at deadlines. */
const RESETS: EventLimits = { burst: 1000, rate: 100 }
/** The resets of a proxy of many clients: it resets the stream of each client that leaves. */
const RESETS_OF_PROXY: EventLimits = { burst: 100_000, rate: 10_000 }
/** Frames that carry nothing: a few for each request and DATA frame are usual. */
const OVERHEAD: EventLimits = { burst: 2000, rate: 200 }
/**
 * Overhead that a request, and a DATA frame of ours, permits beyond that. Window updates answer DATA: Go's
 * net/http sends them for each 4 KiB that are read, two at a time.
 */
const PER_REQUEST = 4
const PER_DATA = 2
const BYTES_PER_UPDATE = 1024

export class FloodGuard {
  readonly #resets: EventBudget
  readonly #overhead = new EventBudget(OVERHEAD)

  /** @param shared the peer is a proxy, and its connection carries the requests of many clients */
  constructor(shared = false) {
    this.#resets = new EventBudget(shared ? RESETS_OF_PROXY : RESETS)
  }

  /** A stream ended before its response: by the peer, or because of it. Throws an Http2Error. */
  reset(): void {
    if (!this.#resets.spend()) throw flood('streams are reset')
  }

  /** Counts a reset outside the reading of a frame: the next request that arrives throws. */
  countReset(): void {
    this.#resets.spend()
  }

  /**
   * A frame without content: PING, SETTINGS, PRIORITY, WINDOW_UPDATE, an empty or an unknown one. Throws an
   * Http2Error.
   */
  overhead(): void {
    if (!this.#overhead.spend()) throw flood('frames without content arrive')
  }

  /** Throws an Http2Error where too many before it were reset. */
  requestStarted(): void {
    if (this.#resets.isExceeded) throw flood('streams are reset')
    this.#overhead.add(PER_REQUEST)
  }

  /** @param bytes of a DATA frame */
  dataSent(bytes: number): void {
    this.#overhead.add(PER_DATA + Math.floor(bytes / BYTES_PER_UPDATE))
  }
}

function flood(what: string): Http2Error {
  return new Http2Error(ENHANCE_YOUR_CALM, `${what} at a rate beyond the limit`)
}
