/**
 * Which connections of a queue are closed first when there are too many: those of the address that has the most open,
 * and of these the oldest. All connections of a queue are looked at for it, so a look finds several, which are kept for
 * a moment.
 */

import type { AddressShare } from './address-shares.ts'
import type { ClientConnection } from './client-connection.ts'
import type { Queue } from './queue.ts'

/** Milliseconds after which what a look has found is out of date. */
const FRESH = 250
/** The share of all connections that one look finds, and how many at most. */
const FOUND_SHARE = 1 / 64
const MOST_FOUND = 64

/** @property since as it was when it was found */
interface Found {
  readonly connection: ClientConnection
  readonly since: number
}

export class EvictionOrder {
  readonly #queue: Queue<ClientConnection>
  /** The first one to go is the last. */
  #found: Found[] = []
  #lookedAt = -Infinity

  constructor(queue: Queue<ClientConnection>) {
    this.#queue = queue
  }

  /**
   * @param now monotonic ms
   * @param before monotonic ms: of those that came to the queue later, none
   * @param all connections that may be open
   */
  next(now: number, before: number, all: number): ClientConnection | null {
    if (now - this.#lookedAt > FRESH) this.#found = []
    const kept = this.#take()
    if (kept !== null) return kept
    this.#lookedAt = now
    const candidates = candidatesOf(this.#queue, before)
    this.#found = chosen(candidates, Math.max(1, Math.min(MOST_FOUND, Math.floor(all * FOUND_SHARE))))
    return this.#take()
  }

  #take(): ClientConnection | null {
    for (let each = this.#found.pop(); each !== undefined; each = this.#found.pop()) {
      const { connection, since } = each
      if (connection.queue === this.#queue && connection.since === since && !connection.hasNews)
        return connection
    }
    return null
  }
}

/** One that brings something just now is spared: it may be a request, and its sender would not know what became of it. */
function candidatesOf(queue: Queue<ClientConnection>, before: number): ClientConnection[] {
  const candidates: ClientConnection[] = []
  for (let each = queue.first; each !== null && each.since <= before; each = each.after)
    if (!each.hasNews) candidates.push(each)
  return candidates
}

/** @param count how many, about: at least one where there is any candidate */
function chosen(candidates: readonly ClientConnection[], count: number): Found[] {
  const shares = sharesOf(candidates)
  const found: Found[] = []
  if (setQuotas(shares, count)) {
    for (const connection of candidates) {
      const { share, since } = connection
      if (share !== null && share.quota-- > 0) found.push({ connection, since })
    }
  } else
    for (const connection of candidates.slice(0, count)) found.push({ connection, since: connection.since })
  return found.reverse()
}

/** The greediest first. */
function sharesOf(candidates: readonly ClientConnection[]): AddressShare<ClientConnection>[] {
  const shares = new Set<AddressShare<ClientConnection>>()
  for (const { share } of candidates) if (share !== null) shares.add(share)
  return [...shares].sort((one, other) => other.size - one.size)
}

/**
 * Of each address, as many as make the greediest equal to the next greedy ones, until they are enough.
 *
 * @returns false: none has more than one connection, so none is greedy
 */
function setQuotas(shares: readonly AddressShare<ClientConnection>[], count: number): boolean {
  for (const share of shares) share.quota = 0
  let left = count
  for (let i = 0; i < shares.length && left > 0; i++) {
    const level = shares[i + 1]?.size ?? 1
    const step = Math.min((shares[i]?.size ?? 0) - level, Math.ceil(left / (i + 1)))
    if (step <= 0) continue
    for (const share of shares.slice(0, i + 1)) share.quota += step
    left -= step * (i + 1)
  }
  return left < count
}
