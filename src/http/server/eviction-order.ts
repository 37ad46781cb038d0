/**
 * Selects the victims of a queue when there are too many connections: connections of the address with the most, the
 * oldest first. Each search inspects the whole queue, so it selects several victims, which are cached for a moment.
 */

import type { AddressShare } from './address-shares.ts'
import type { ClientConnection } from './client-connection.ts'
import type { Queue } from './queue.ts'

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

/** @param count approximate; at least one victim if there is any candidate */
function selectVictims(candidates: readonly ClientConnection[], count: number): Victim[] {
  const shares = sharesOf(candidates)
  const victims: Victim[] = []
  if (setQuotas(shares, count)) {
    for (const connection of candidates) {
      const { share, queuedAt } = connection
      if (share !== null && share.quota-- > 0) victims.push({ connection, queuedAt })
    }
  } else
    for (const connection of candidates.slice(0, count))
      victims.push({ connection, queuedAt: connection.queuedAt })
  return victims.reverse()
}

/** The address with the most connections first. */
function sharesOf(candidates: readonly ClientConnection[]): AddressShare<ClientConnection>[] {
  const shares = new Set<AddressShare<ClientConnection>>()
  for (const { share } of candidates) if (share !== null) shares.add(share)
  return [...shares].sort((one, other) => other.size - one.size)
}

/**
 * Sets a quota for each address so that the largest addresses shrink to one level, until the quotas sum up to `count`.
 *
 * @returns false if no address has more than one connection
 */
function setQuotas(shares: readonly AddressShare<ClientConnection>[], count: number): boolean {
  for (const share of shares) share.quota = 0
  let remaining = count
  for (let i = 0; i < shares.length && remaining > 0; i++) {
    const level = shares[i + 1]?.size ?? 1
    const step = Math.min((shares[i]?.size ?? 0) - level, Math.ceil(remaining / (i + 1)))
    if (step <= 0) continue
    for (const share of shares.slice(0, i + 1)) share.quota += step
    remaining -= step * (i + 1)
  }
  return remaining < count
}
