/**
 * Who has to go when there are too many connections: first those that wait for a request, then those whose client is
 * slow, and of these first those of the address that has most.
 */

import { performance } from 'node:perf_hooks'
import type { AddressShare, AddressShares } from './address-shares.ts'
import type { ClientConnection } from './client-connection.ts'
import type { Queue } from './queue.ts'
import { isSlow } from './slow-client.ts'
import { EvictionOrder } from './eviction-order.ts'

/**
 * `slow`: active, and all that is under way is a client that takes its time. `active`: its address has far more than the
 * one that the room is for.
 */
export type Evicted = 'idle' | 'opening' | 'slow' | 'active'

export interface Queues {
  readonly opening: Queue<ClientConnection>
  readonly active: Queue<ClientConnection>
  readonly idle: Queue<ClientConnection>
  readonly returning: Queue<ClientConnection>
}

/** Milliseconds that a connection has for its first header section before another one may have its place. */
const HEAD_GRACE = 1000
/** The share of all connections beyond which those without a header section are an attack, and have no such time. */
const ATTACK_SHARE = 1 / 8
/** An address that has less than this share of all connections keeps those with a request under way. */
const LARGE_SHARE = 1 / 16
/** And so does one that has no more than so many times what the address has that wants one more. */
const LARGE_RATIO = 2

/** Milliseconds between two looks for slow ones. */
const SLOW_SCAN_INTERVAL = 250

export class Eviction {
  readonly #queues: Queues
  readonly #shares: AddressShares<ClientConnection>
  readonly #evicted: (state: Evicted) => void
  readonly #idle: EvictionOrder
  readonly #opening: EvictionOrder
  readonly #returning: EvictionOrder
  /** Found by the last look for slow ones, and when that was. The first one to go is the last. */
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
   * @param most connections that may be open
   * @param own connections of the address that one more is wanted for
   * @returns whether one was closed
   */
  makeRoom(most: number, ownCount: number): boolean {
    const now = performance.now()
    const victim =
      this.#queues.opening.size > most * ATTACK_SHARE
        ? // It is no time to close what has served its clients well.
          this.#opening.next(now, now, most)
        : (this.#nextWaiting(now, most) ?? this.#nextSlow(now) ?? this.#nextOfLargest(most, ownCount))
    return victim !== null && this.#evict(victim)
  }

  /** Closes one of those of the address that wait for a request. @returns whether there was any */
  makeRoomOf(share: AddressShare<ClientConnection>): boolean {
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

  #nextWaiting(now: number, most: number): ClientConnection | null {
    return (
      this.#idle.next(now, Infinity, most) ??
      this.#returning.next(now, now - HEAD_GRACE, most) ??
      this.#opening.next(now, now - HEAD_GRACE, most)
    )
  }

  /** All are looked at, so not each time. */
  #nextSlow(now: number): ClientConnection | null {
    const { active } = this.#queues
    if (now - this.#scannedAt > SLOW_SCAN_INTERVAL) {
      this.#scannedAt = now
      const slow = active.all().filter((each) => !each.isUpgraded && isSlow(each, now))
      this.#slow = slow.sort((one, other) => sizeOf(one) - sizeOf(other))
    }
    for (let each = this.#slow.pop(); each !== undefined; each = this.#slow.pop())
      if (each.queue === active && isSlow(each, now)) return each
    return null
  }

  /** Its client is answered, but holds what many others could have. */
  #nextOfLargest(most: number, ownCount: number): ClientConnection | null {
    const share = this.#shares.largest()
    if (share === null || share.size < most * LARGE_SHARE || share.size <= (ownCount + 1) * LARGE_RATIO)
      return null
    return share.find(({ queue, isUpgraded }) => queue === this.#queues.active && !isUpgraded)
  }
}

function sizeOf({ share }: ClientConnection): number {
  return share?.size ?? 1
}
