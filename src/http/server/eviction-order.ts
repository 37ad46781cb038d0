/**
 * Selects the victims of a queue when there are too many connections: connections of the address with the most, the
 * oldest first. Each search inspects the whole queue, so it selects several victims, which are cached for a moment.
 */

import { levelAfter } from '../../lib/ledger.ts'
import type { Queue } from '../../lib/queue.ts'
import type { ClientConnection } from './client-connection.ts'

/** Milliseconds for which a selection is valid. */
const MAX_AGE = 250
/** The share of all connections that one search selects, and the maximum. */
const VICTIMS_SHARE = 1 / 64
const MAX_VICTIMS = 64

/** @property queuedAt at the time of the selection */
interface Victim {
  readonly connection: ClientConnection
  readonly queuedAt: number
}

export class EvictionOrder {
  readonly #queue: Queue<ClientConnection>
  /** The last one is evicted first. */
  #victims: Victim[] = []
  #scannedAt = -Infinity

  constructor(queue: Queue<ClientConnection>) {
    this.#queue = queue
  }

  /**
   * @param now monotonic ms
   * @param before monotonic ms: later arrivals in the queue are exempt
   * @param all the limit of open connections
   */
  next(now: number, before: number, all: number): ClientConnection | null {
    if (now - this.#scannedAt > MAX_AGE) this.#victims = []
    const cached = this.#take()
    if (cached !== null) return cached
    this.#scannedAt = now
    const candidates = candidatesOf(this.#queue, before)
    this.#victims = selectVictims(
      candidates,
      Math.max(1, Math.min(MAX_VICTIMS, Math.floor(all * VICTIMS_SHARE))),
    )
    return this.#take()
  }

  #take(): ClientConnection | null {
    for (let candidate = this.#victims.pop(); candidate !== undefined; candidate = this.#victims.pop()) {
      const { connection, queuedAt } = candidate
      if (connection.queue === this.#queue && connection.queuedAt === queuedAt && !connection.hasUnreadBytes)
        return connection
    }
    return null
  }
}

/** A connection with unread bytes is exempt: they may hold a request, and its sender could not learn its fate. */
function candidatesOf(queue: Queue<ClientConnection>, before: number): ClientConnection[] {
  const candidates: ClientConnection[] = []
  for (
    let candidate = queue.first;
    candidate !== null && candidate.queuedAt <= before;
    candidate = candidate.next
  )
    if (!candidate.hasUnreadBytes) candidates.push(candidate)
  return candidates
}

/**
 * Selects the oldest ones so that the addresses with the most connections shrink to one level; the oldest ones of all if
 * no address has more than one.
 *
 * @param count approximate; at least one victim if there is any candidate
 */
function selectVictims(candidates: readonly ClientConnection[], count: number): Victim[] {
  const sizes = new Map<string, number>()
  for (const { address, entry } of candidates)
    if (address !== null) sizes.set(address, entry?.queue?.size ?? 0)
  const level = levelAfter([...sizes.values()], count)
  const selected = candidates.filter(({ address }) => {
    const size = address === null ? 0 : (sizes.get(address) ?? 0)
    if (address === null || size <= level) return false
    sizes.set(address, size - 1)
    return true
  })
  const victims = selected.length > 0 ? selected : candidates.slice(0, count)
  return victims.map((connection) => ({ connection, queuedAt: connection.queuedAt })).reverse()
}
