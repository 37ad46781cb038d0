/**
 * How the requests of a target share its slots. A slot is a connection of HTTP/1.1, a stream of HTTP/2, or the right to
 * upload while the client still sends.
 *
 * Requests wait in a {@link FairQueue}. It takes tenants in turn, callers of a tenant in turn, and the requests of a
 * caller in order of arrival. A caller with many requests delays itself, not others.
 *
 * While requests wait, {@link SlotEviction} ends requests that hold slots:
 *
 * - of owners that hold more slots than the owners of waiting requests. The slowest upload of the owner with the most
 *   slots goes first. If requests wait for a connection, responses to slow readers are candidates too;
 * - of clients that are slow at sending a body or at reading a response, whatever their owners hold. A slow client may be
 *   honest, but it must not hold a connection or a stream that others need.
 */

import { performance } from 'node:perf_hooks'
import { type Account, type Entry, Ledger, type Order } from '../../lib/ledger.ts'
import {
  Evicted,
  type RequestOwner,
  type ResponseReceiver,
  SlowClient,
  type UpstreamRequest,
} from './upstream-request.ts'

export interface QueuedRequest {
  readonly request: UpstreamRequest
  readonly receiver: ResponseReceiver
  /** The request holds an upload slot. */
  readonly uploads: boolean
  /** Monotonic ms. */
  readonly since: number
}

export class FairQueue {
  readonly #waiting = new Ledger<QueuedRequest>()

  get size(): number {
    return this.#waiting.weight
  }

  add(item: QueuedRequest): void {
    this.#waiting.add(item, item.receiver.owner)
  }

  /** Takes the next request. */
  take(): QueuedRequest | undefined {
    return this.size === 0 ? undefined : this.#take(this.#waiting.next()?.first)
  }

  /** Takes the next request of the tenant with the fewest slots, and there of the caller with the fewest. */
  takeFewest(slots: Ledger<unknown>): QueuedRequest | undefined {
    let [best, least] = [null as Account<QueuedRequest> | null, [Infinity, Infinity] as const]
    for (const tenant of this.#waiting.accounts) {
      const held = slots.held(tenant.name)
      if (held > least[0]) continue
      for (const caller of tenant.accounts) {
        const own = slots.held(tenant.name, caller.name)
        if (held === least[0] && own >= least[1]) continue
        best = caller
        least = [held, own]
      }
    }
    return this.#take(best?.first)
  }

  /** Takes the newest request of the caller that gives one up for `owner`. */
  takeFromGreediest(owner: RequestOwner): QueuedRequest | undefined {
    return this.#take(this.#waiting.greedierThan(owner)?.last)
  }

  /** Removes the request of this receiver. The turns of the others stay. */
  remove(receiver: ResponseReceiver): QueuedRequest | undefined {
    if (this.size === 0) return undefined
    let entry = this.#waiting.account(...receiver.owner)?.first ?? null
    while (entry !== null && entry.item.receiver !== receiver) entry = entry.next
    entry?.remove()
    return entry?.item
  }

  /** For each caller, the number of requests that wait since that time or longer; at least one. */
  *overdue(since: number): Generator<readonly [owner: RequestOwner, count: number]> {
    for (const tenant of this.#waiting.accounts)
      for (const caller of tenant.accounts) {
        let count = 0
        for (let entry = caller.first; entry !== null && entry.item.since <= since; entry = entry.next)
          count++
        if (count > 0) yield [[tenant.name, caller.name], count]
      }
  }

  *[Symbol.iterator](): Generator<QueuedRequest> {
    for (const { item } of this.#waiting) yield item
  }

  /** It was the turn of its owner. */
  #take(entry: Entry<QueuedRequest> | null | undefined): QueuedRequest | undefined {
    const account = entry?.queue
    entry?.remove()
    account?.endTurn()
    return entry?.item
  }
}

/** A connection of HTTP/1.1, or a stream of HTTP/2. */
export interface RequestSlot {
  /** null if no request is in flight. */
  readonly receiver: ResponseReceiver | null
  /** The request holds an upload slot. */
  readonly uploads: boolean
  /** Monotonic ms: the start of the request. */
  readonly busySince: number
  /** The request waits for its client to send or to read. */
  readonly waitsForClient: boolean
  /** Body bytes a second of the request, in both directions. @param now monotonic ms */
  rate(now: number): number
  /** Whether the request waits for a client that has moved less than that since the last check. */
  isClientSlow(bytes: number): boolean
  /** Ends the request. Its receiver gets `failed`. */
  close(error: Error): void
}

export interface EvictionPool {
  /** All slots of the pool. */
  slots(): Iterable<RequestSlot>
  /** The pool may open no further connection. */
  readonly full: boolean
  readonly waitingRequests: FairQueue
  readonly waitingUploads: FairQueue
}

/** Evictions at one check, as each one searches all slots. */
const MAX_EVICTIONS = 32

/** Milliseconds between two checks for slow clients. */
const SLOW_INTERVAL = 1000
/** A client that moves fewer bytes than this between two checks gets a strike. */
const MIN_BYTES = 1024
/** Consecutive strikes before the request is ended; fewer while the queue is long. */
const MAX_STRIKES = 5
const MAX_STRIKES_LONG_QUEUE = 2
/** The queue is long with more waiting requests than this for each slot. */
const LONG_QUEUE_RATIO = 0.25

/** Null: a slot that is not open, but counts. */
type HeldSlot = RequestSlot | null

export class SlotEviction {
  readonly #pool: EvictionPool
  /** Milliseconds that a request waits before another one is evicted for it. */
  readonly #delay: number
  /** The slots of slow clients, with their strikes. */
  #slow = new Map<RequestSlot, number>()
  #ownersTimer: NodeJS.Timeout | null = null
  #slowTimer: NodeJS.Timeout | null = null

  constructor(pool: EvictionPool, delay: number) {
    this.#pool = pool
    this.#delay = delay
  }

  /** Called when a request starts to wait. */
  start(): void {
    this.#ownersTimer ??= setInterval(() => this.#checkOwners(), this.#delay / 2).unref()
    this.#slowTimer ??= setInterval(() => this.#checkSlow(), SLOW_INTERVAL).unref()
  }

  stop(): void {
    if (this.#ownersTimer !== null) clearInterval(this.#ownersTimer)
    if (this.#slowTimer !== null) clearInterval(this.#slowTimer)
    this.#ownersTimer = null
    this.#slowTimer = null
    this.#slow.clear()
  }

  get #waiting(): number {
    return this.#pool.waitingRequests.size + this.#pool.waitingUploads.size
  }

  #checkOwners(): void {
    if (this.#waiting === 0) return this.stop()
    const { full, waitingRequests, waitingUploads } = this.#pool
    this.#evictForOverdue(waitingUploads, true)
    // Otherwise a connection is being opened for them.
    if (full) this.#evictForOverdue(waitingRequests, false)
  }

  /** Evicts at once, for a request that the full queue refuses. @returns whether a request was evicted */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    const now = performance.now()
    const [slots, candidates] = this.#slots(uploads, now)
    const victim = slots.victim(candidates, owner, slowest(now))
    victim?.item?.close(new Evicted())
    return victim !== null
  }

  #evictForOverdue(queue: FairQueue, uploads: boolean): void {
    const now = performance.now()
    const overdue = [...queue.overdue(now - this.#delay)]
    if (overdue.length === 0) return
    const [slots, candidates] = this.#slots(uploads, now)
    let ended = 0
    for (const [owner, count] of overdue) {
      for (let i = 0; i < count && ended < MAX_EVICTIONS; i++, ended++) {
        const victim = slots.victim(candidates, owner, slowest(now))
        if (victim === null) break
        candidates.delete(victim)
        victim.remove()
        slots.add(null, owner)
        victim.item?.close(new Evicted())
      }
    }
  }

  /**
   * All slots by owner, and those that may be evicted. A request younger than the delay is exempt, as its rate is
   * unknown. Of requests that the upstream has completely, only those with a slow reader count: eviction of the others
   * would waste the work of the upstream.
   *
   * @param uploads only upload slots, with those of requests that wait for a connection
   */
  #slots(uploads: boolean, now: number): [all: Ledger<HeldSlot>, candidates: Set<Entry<HeldSlot>>] {
    const all = new Ledger<HeldSlot>()
    const candidates = new Set<Entry<HeldSlot>>()
    for (const slot of this.#pool.slots()) {
      const { receiver, busySince, uploads: holds, waitsForClient } = slot
      if (receiver === null || (uploads && !holds)) continue
      const held = all.add(slot, receiver.owner)
      if (now - busySince >= this.#delay && (uploads || waitsForClient)) candidates.add(held)
    }
    if (uploads)
      for (const { receiver, uploads: holds } of this.#pool.waitingRequests)
        if (holds) all.add(null, receiver.owner)
    return [all, candidates]
  }

  /** Upload slots by owner. */
  get uploadSlots(): Ledger<HeldSlot> {
    return this.#slots(true, performance.now())[0]
  }

  #checkSlow(): void {
    const waiting = this.#waiting
    if (waiting === 0) return this.stop()
    const slow = new Map<RequestSlot, number>()
    let total = 0
    for (const slot of this.#pool.slots()) {
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

function slowest(now: number): Order<HeldSlot> {
  return ({ item: one }, { item: other }) => (one?.rate(now) ?? 0) - (other?.rate(now) ?? 0)
}
