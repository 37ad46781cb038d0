/**
 * Requests whose small or chunked bodies are still arriving while all upload slots are taken. Their bodies are read
 * before a target is selected. Most are complete within a round trip and then need no upload slot.
 */

import type { ClientRequest } from '../http/server/client-request.ts'

/** The largest body in bytes: half the buffer of its stream. */
const MAX_BYTES = 32 * 1024
/** Milliseconds for a body to arrive. */
const MAX_TIME = 2000

export interface BufferedBody {
  /** The body is complete, or the wait for it is over. May come after the end of the request. */
  buffered(): void
}

export function isSmall({ length }: ClientRequest): boolean {
  return length <= MAX_BYTES || length === Infinity
}

export class SmallBodies {
  readonly #limit: number
  /** With their timers, oldest first. */
  readonly #all = new Map<BufferedBody, NodeJS.Timeout>()

  /** @param limit beyond it, the oldest request goes on with what it has */
  constructor(limit: number) {
    this.#limit = limit
  }

  add(item: BufferedBody): void {
    this.#all.set(item, setTimeout(onTime, MAX_TIME, this, item))
    if (this.#all.size <= this.#limit) return
    for (const oldest of this.#all.keys()) return this.done(oldest)
  }

  /** Does nothing for a request that is not present. */
  done(item: BufferedBody): void {
    const timer = this.#all.get(item)
    if (timer === undefined) return
    clearTimeout(timer)
    this.#all.delete(item)
    item.buffered()
  }
}

function onTime(smallBodies: SmallBodies, item: BufferedBody): void {
  smallBodies.done(item)
}
