/**
 * Selects the connection to evict when there are too many: first one that waits for a request, then one with a slow
 * client; in both groups one of the address with the most connections.
 */

import { performance } from 'node:perf_hooks'
import type { AddressShare, AddressShares } from './address-shares.ts'
import type { ClientConnection } from './client-connection.ts'
import type { Queue } from './queue.ts'
import { isSlow } from './client-progress.ts'
import { EvictionOrder } from './eviction-order.ts'

/**
 * `slow`: active, and only waiting for its client. `active`: its address has many more connections than the address of
 * the new one.
 */
export type Evicted = 'idle' | 'opening' | 'slow' | 'active'

export interface Queues {
  readonly opening: Queue<ClientConnection>
  readonly active: Queue<ClientConnection>
  readonly idle: Queue<ClientConnection>
  readonly returning: Queue<ClientConnection>
}

/** Milliseconds that a connection has for its first header section before it may be evicted. */
const HEAD_GRACE = 1000
/** Connections without a header section beyond this share of all are an attack and lose that time. */
const ATTACK_SHARE = 1 / 8
/** An address below this share of all connections keeps its active connections. */
const LARGE_SHARE = 1 / 16
/** An address with at most this multiple of the connections of the new one's address keeps its active connections. */
const LARGE_RATIO = 2

/** Milliseconds between two searches for slow clients. */
const SLOW_SCAN_INTERVAL = 250

export class Eviction {
  readonly #queues: Queues
  readonly #shares: AddressShares<ClientConnection>
  readonly #evicted: (state: Evicted) => void
  readonly #idle: EvictionOrder
  readonly #opening: EvictionOrder
  readonly #returning: EvictionOrder
  /** The result of the last search for slow clients, and its time. The last one is evicted first. */
  #slow: ClientConnection[] = []
  #scannedAt = -Infinity

  constructor(queues: Queues, shares: AddressShares<ClientConnection>, evicted: (state: Evicted) => void) {
    this.#queues = queues
    this.#shares = shares
    this.#evicted = evicted
    this.#idle = new EvictionOrder(queues.idle)
    this.#opening = new EvictionOrder(queues.opening)
    this.#returning = new EvictionOrder(queues.returning)
  }

  /**
   * @param maxConnections the limit of open connections
   * @param ownCount the connections of the new connection's address
   * @returns whether a connection was evicted
   */
  evictOne(maxConnections: number, ownCount: number): boolean {
    const now = performance.now()
    const victim =
      this.#queues.opening.size > maxConnections * ATTACK_SHARE
        ? // During an attack, established connections stay.
          this.#opening.next(now, now, maxConnections)
        : (this.#nextWaiting(now, maxConnections) ??
          this.#nextSlow(now) ??
          this.#nextOfLargest(maxConnections, ownCount))
    return victim !== null && this.#evict(victim)
  }

  /** Evicts a connection of this address that waits for a request. @returns whether there was one */
  evictOneOf(share: AddressShare<ClientConnection>): boolean {
    const { idle, opening, returning } = this.#queues
    const before = performance.now() - HEAD_GRACE
    const victim =
      share.find(({ queue, hasUnreadBytes }) => queue === idle && !hasUnreadBytes) ??
      share.find(
        ({ queue, hasUnreadBytes, queuedAt }) =>
          (queue === opening || queue === returning) && !hasUnreadBytes && queuedAt <= before,
      )
    return victim !== null && this.#evict(victim)
  }

  #evict(victim: ClientConnection): true {
    this.#evicted(this.#stateOf(victim))
    victim.queue?.remove(victim)
    this.#shares.leave(victim)
    victim.socket.destroy()
    return true
  }

  #stateOf(victim: ClientConnection): Evicted {
    const { active, idle } = this.#queues
    if (victim.queue === active) return isSlow(victim, performance.now()) ? 'slow' : 'active'
    return victim.queue === idle ? 'idle' : 'opening'
  }

  #nextWaiting(now: number, maxConnections: number): ClientConnection | null {
    return (
      this.#idle.next(now, Infinity, maxConnections) ??
      this.#returning.next(now, now - HEAD_GRACE, maxConnections) ??
      this.#opening.next(now, now - HEAD_GRACE, maxConnections)
    )
  }

  /** The search inspects all connections, so its result is cached. */
  #nextSlow(now: number): ClientConnection | null {
    const { active } = this.#queues
    if (now - this.#scannedAt > SLOW_SCAN_INTERVAL) {
      this.#scannedAt = now
      const slow = active.all().filter((connection) => !connection.isUpgraded && isSlow(connection, now))
      this.#slow = slow.sort((one, other) => sizeOf(one) - sizeOf(other))
    }
    for (let connection = this.#slow.pop(); connection !== undefined; connection = this.#slow.pop())
      if (connection.queue === active && isSlow(connection, now)) return connection
    return null
  }

  /** Its client is served, but it holds what many other clients could share. */
  #nextOfLargest(maxConnections: number, ownCount: number): ClientConnection | null {
    const share = this.#shares.largest()
    if (
      share === null ||
      share.size < maxConnections * LARGE_SHARE ||
      share.size <= (ownCount + 1) * LARGE_RATIO
    )
      return null
    return share.find(({ queue, isUpgraded }) => queue === this.#queues.active && !isUpgraded)
  }
}

function sizeOf({ share }: ClientConnection): number {
  return share?.size ?? 1
}
