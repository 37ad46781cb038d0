/**
 * Ends the requests of clients that are slow at sending a body or at reading a response, while other requests
 * wait. A slow client may be honest, but it must not hold a connection or a stream that others need.
 */

import { SlowClient } from './upstream-request.ts'
import type { RequestSlot } from './request-slot.ts'

/** Milliseconds between two checks. */
const CHECK_INTERVAL = 1000
/** A client that moves fewer bytes than this between two checks gets a strike. */
const MIN_BYTES = 1024
/** Consecutive strikes before the request is ended; fewer while the queue is long. */
const MAX_STRIKES = 5
const MAX_STRIKES_LONG_QUEUE = 2
/** The queue is long with more waiting requests than this for each slot. */
const LONG_QUEUE_RATIO = 0.25

export interface SheddingPool {
  /** All slots of the pool. */
  readonly slots: Iterable<RequestSlot>
  /** Requests that wait for a connection. */
  readonly waiting: number
}

export class SlowClientShedding {
  readonly #pool: SheddingPool
  #slow = new Map<RequestSlot, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(pool: SheddingPool) {
    this.#pool = pool
  }

  /** Called when a request starts to wait. */
  start(): void {
    this.#timer ??= setInterval(check, CHECK_INTERVAL, this).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#slow.clear()
  }

  check(): void {
    const { slots, waiting } = this.#pool
    if (waiting === 0) return this.stop()
    const slow = new Map<RequestSlot, number>()
    let total = 0
    for (const slot of slots) {
      total++
      if (slot.isClientSlow(MIN_BYTES)) slow.set(slot, (this.#slow.get(slot) ?? 0) + 1)
    }
    this.#slow = slow
    const maxStrikes = waiting > total * LONG_QUEUE_RATIO ? MAX_STRIKES_LONG_QUEUE : MAX_STRIKES
    const slowest = [...slow].filter(([, strikes]) => strikes >= maxStrikes).sort(([, a], [, b]) => b - a)
    for (const [slot] of slowest.slice(0, waiting))
      slot.close(new SlowClient('the client is too slow while other requests wait'))
  }
}

function check(shedding: SlowClientShedding): void {
  shedding.check()
}
