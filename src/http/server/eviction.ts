/**
 * Selects the connection to evict when there are too many: first one that waits for a request, then one with
 * a slow client; in both groups one of the address with the most connections.
 */

import { performance } from 'node:perf_hooks'
import { type Account, type Ledger, levelAfter } from '../../lib/ledger.ts'
import type { Queue } from '../../lib/queue.ts'
import type { ClientConnection } from './client-connection.ts'

/**
 * `slow`: active, and only waiting for its client. `active`: its address has many more connections than the
 * address of the new one.
 */
export type Evicted = 'idle' | 'opening' | 'slow' | 'active'

export type Queues = Readonly<Record<'opening' | 'active' | 'idle' | 'returning', Queue<ClientConnection>>>

/** Milliseconds that a connection has for its first header section before it may be evicted. */
const HEAD_GRACE = 1000
/** Connections without a header section beyond this share of all are an attack and lose that time. */
const ATTACK_SHARE = 1 / 8
/** An address below this share of all connections keeps its active connections. */
const LARGE_SHARE = 1 / 16
/** An address with at most this multiple of the new one's connections keeps its active connections. */
const LARGE_RATIO = 2

/** Connections of one address that one search inspects; the next search begins with others. */
const MAX_SCANNED = 64

/** Milliseconds between two searches for slow clients. */
const SLOW_SCAN_INTERVAL = 250

export class Eviction {
  readonly #queues: Queues
  readonly #addresses: Ledger<ClientConnection>
  readonly #evicted: (state: Evicted) => void
  readonly #idle: EvictionOrder
  readonly #opening: EvictionOrder
  readonly #returning: EvictionOrder
  /** The result of the last search for slow clients, and its time. The last one is evicted first. */
  #slow: ClientConnection[] = []
  #scannedAt = -Infinity

  constructor(queues: Queues, addresses: Ledger<ClientConnection>, evicted: (state: Evicted) => void) {
    this.#queues = queues
    this.#addresses = addresses
    this.#evicted = evicted
    this.#idle = new EvictionOrder(queues.idle)
    this.#opening = new EvictionOrder(queues.opening)
    this.#returning = new EvictionOrder(queues.returning)
  }

  /**
   * @param maxConnections the limit of open connections
   * @param address of the new connection; null if many clients share it
   * @returns whether a connection was evicted
   */
  evictOne(maxConnections: number, address: string | null): boolean {
    const now = performance.now()
    const victim =
      this.#queues.opening.size > maxConnections * ATTACK_SHARE
        ? // During an attack, established connections stay.
          this.#opening.next(now, now, maxConnections)
        : (this.#nextWaiting(now, maxConnections) ??
          this.#nextSlow(now) ??
          this.#nextOfLargest(maxConnections, address))
    return victim !== null && this.#evict(victim)
  }

  /**
   * Evicts a connection of this address that waits for a request.
   *
   * @returns whether there was one
   */
  evictOneOf(account: Account<ClientConnection>): boolean {
    const { idle, opening, returning } = this.#queues
    const before = performance.now() - HEAD_GRACE
    const victim =
      find(account, ({ queue, hasUnreadBytes }) => queue === idle && !hasUnreadBytes) ??
      find(
        account,
        ({ queue, hasUnreadBytes, queuedAt }) =>
          (queue === opening || queue === returning) && !hasUnreadBytes && queuedAt <= before,
      )
    return victim !== null && this.#evict(victim)
  }

  #evict(victim: ClientConnection): true {
    this.#evicted(this.#stateOf(victim))
    victim.queue?.remove(victim)
    victim.entry?.remove()
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
  #nextOfLargest(maxConnections: number, address: string | null): ClientConnection | null {
    const largest = this.#addresses.largest()
    const own = address === null ? 0 : this.#addresses.held(address)
    if (
      largest === null ||
      largest.size < maxConnections * LARGE_SHARE ||
      largest.size <= (own + 1) * LARGE_RATIO
    )
      return null
    return find(largest, ({ queue, isUpgraded }) => queue === this.#queues.active && !isUpgraded)
  }
}

function sizeOf({ entry }: ClientConnection): number {
  return entry?.queue?.size ?? 1
}

/**
 * Searches the next connections of this address.
 *
 * @returns null if none of them is accepted
 */
function find(
  account: Account<ClientConnection>,
  accepts: (connection: ClientConnection) => boolean,
): ClientConnection | null {
  for (let left = Math.min(account.size, MAX_SCANNED); left > 0; left--) {
    const { first } = account
    if (first === null || accepts(first.item)) return first?.item ?? null
    first.renew()
  }
  return null
}

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

/**
 * Selects the victims of a queue: connections of the address with the most, the oldest first. Each search
 * inspects the whole queue, so it selects several victims, which are cached for a moment.
 */
class EvictionOrder {
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
    const candidates: ClientConnection[] = []
    // In order of arrival: the search ends at the first later one, as each refused connection repeats it.
    for (let each = this.#queue.first; each !== null && each.queuedAt <= before; each = each.next) {
      // One with unread bytes is exempt: they may hold a request, and its sender could not learn its fate.
      if (!each.hasUnreadBytes) candidates.push(each)
    }
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

/**
 * Selects the oldest ones so that the addresses with the most connections shrink to one level; the oldest
 * ones of all if no address has more than one.
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

/** Milliseconds before a client counts as slow, and bytes a second below which the sender of a body does. */
const STALL_TIME = 5000
const MIN_RATE = 1024

/**
 * Records what the client has read of its response. Called about once a second.
 *
 * @param now monotonic ms
 * @returns since when it has read nothing of the buffered bytes; Infinity if none are buffered
 */
export function updateStall(connection: ClientConnection, now: number): number {
  const { socket } = connection
  const buffered = socket.writableLength
  const bytes = socket.bytesWritten - buffered
  if (buffered === 0) connection.stalledSince = Infinity
  else if (connection.stalledSince === Infinity || bytes !== connection.bytesTaken)
    connection.stalledSince = now
  connection.bytesTaken = bytes
  return connection.stalledSince
}

/** The client sends its body, or reads its response, so slowly that its connection may be evicted. */
function isSlow(connection: ClientConnection, now: number): boolean {
  const { exchange, socket, bytesReadWhenIdle, stalledSince } = connection
  if (now - stalledSince > STALL_TIME) return true
  if (connection.http2 !== null) return connection.http2.isSlow(now, STALL_TIME)
  if (exchange === null) return false
  const time = now - exchange.startedAt
  const { request } = exchange
  // Paused: the client would send, but the reader is busy.
  if (time < STALL_TIME || request.complete || request.paused) return false
  return ((socket.bytesRead - bytesReadWhenIdle) * 1000) / time < MIN_RATE
}
