/**
 * Requests whose bodies are small, or of unknown length, and on their way: read before a target is chosen, while all
 * places for bodies that are still coming are taken. Most are whole within a round trip, and need no such place then.
 */

import type { ClientRequest } from '../http/server/client-request.ts'

/** Bytes of a body that is read so: half of what its stream holds. */
const MAX_BYTES = 32 * 1024
/** Milliseconds that it has. */
const MAX_TIME = 2000

export interface BufferedBody {
  /** Its body is whole, or is waited for no longer. May be told when it is over. */
  buffered(): void
}

export function isSmall({ length }: ClientRequest): boolean {
  return length <= MAX_BYTES || length === Infinity
}

export class SmallBodies {
  readonly #most: number
  /** With their timers; oldest first. */
  readonly #all = new Map<BufferedBody, NodeJS.Timeout>()

  /** @param most at once; with one more, the oldest goes on with what it has */
  constructor(most: number) {
    this.#most = most
  }

  add(item: BufferedBody): void {
    this.#all.set(item, setTimeout(onTime, MAX_TIME, this, item))
    if (this.#all.size <= this.#most) return
    for (const oldest of this.#all.keys()) return this.done(oldest)
  }

  /** Does nothing for one that is not here. */
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
