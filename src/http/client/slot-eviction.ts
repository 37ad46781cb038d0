/**
 * What happens to requests that hold slots (`slot-sharing.ts`) while others wait. An owner that is alone may
 * hold all slots. {@link SlotEviction} ends requests
 *
 * - of owners that hold more slots than the owner of a request that has waited for `evictionDelay`: of the
 *   tenant with the most slots, and there of the caller with the most, the one that is dispensed with most
 *   easily (`dispensableFirst`). A request younger than the delay is exempt, and ten times as long if it
 *   waits for its upstream, whose work would be lost;
 * - of clients that are slow at sending a body or at reading a response, whatever their owners hold. A slow
 *   client may be honest, but it must not hold a connection or a stream that others need.
 *
 * A *lasting* request is one without an end in sight, such as an event stream. Its client opens it again as
 * soon as it is ended, so each request of another owner would wait for an eviction. The eviction of a lasting
 * request therefore begins *contention*. Contention ends when, for ten seconds, no owner has waited while
 * another owner had more lasting requests. During contention, some slots are kept free. A request begins
 *
 * - of the owner with the most lasting requests: only if more than 2/16 of the slots stay free;
 * - of another caller of the same tenant: only if more than 1/16 of the slots stay free;
 * - of any other tenant: always, even if it takes the last slot.
 *
 * Each check ends lasting requests of the owners with the most until 2/16 of the slots are free. From time to
 * time it frees 3/16, so that short requests of the owner with the most can begin during contention too.
 */

import { performance } from 'node:perf_hooks'
import { type Entry, Ledger, type Order } from '../../lib/ledger.ts'
import type { Admission, FairQueue } from './slot-sharing.ts'
import { Evicted, type RequestOwner, type ResponseReceiver, SlowClient } from './upstream-request.ts'

/** A connection of HTTP/1.1, or a stream of HTTP/2. */
export interface RequestSlot {
  /** The receiver of the response; null if no request is in flight. */
  readonly receiver: ResponseReceiver | null
  /** The request holds an upload slot. */
  readonly uploads: boolean
  /** Monotonic ms: the start of the request. */
  readonly busySince: number
  /** The request waits for its client to send or to read. */
  readonly waitsForClient: boolean
  /** The head of the final response is received. */
  readonly responding: boolean
  /**
   * Body bytes a second of the request, in both directions.
   *
   * @param now monotonic ms
   */
  rate(now: number): number
  /** Whether the request waits for a client that has moved less than that since the last check. */
  isClientSlow(bytes: number): boolean
  /** Ends the request. Its receiver gets `failed`. */
  close(error: Error): void
}

export interface EvictionPool {
  /**
   * The slots of the pool.
   *
   * @param uploads whether those on connections that take no further request are among them: they hold upload
   *   slots, but their ends make no room
   */
  slots(uploads: boolean): Iterable<RequestSlot>
  /** The pool may open no further connection. */
  readonly full: boolean
  /** The requests that may be in flight at once, and those that may still begin. */
  readonly capacity: number
  readonly room: number
  readonly waitingRequests: FairQueue
  readonly waitingUploads: FairQueue
  /** Begins the waiting requests that are admitted and have room. */
  serve(): void
}

/** Evictions at one check, as each one searches all slots. */
const MAX_EVICTIONS = 32

/** The age from which a request that waits for its upstream may be evicted, as a multiple of the delay. */
const WORK_FACTOR = 10
/** The time between two restorations of room for requests that are held back, as a multiple of the delay. */
const HELD_BACK_FACTOR = 10
/** Milliseconds of contention after the last request that needs it. */
const CONTENTION = 10_000
/** The share of slots kept for other tenants, and again for other callers of the tenant with the most. */
const KEPT_SHARE = 1 / 16
/** The capacity from which room is kept. An owner of a few slots in a smaller pool would be refused all. */
const MIN_CAPACITY = 4

/** Milliseconds between two checks for slow clients. */
const SLOW_INTERVAL = 1000
/** A client that moves fewer bytes than this between two checks gets a strike. */
const MIN_BYTES = 1024
/** Consecutive strikes before the request is ended; fewer while the queue is long. */
const MAX_STRIKES = 5
const MAX_STRIKES_LONG_QUEUE = 2
/** The queue is long with more waiting requests than this for each slot. */
const LONG_QUEUE_RATIO = 0.25

/** A slot, or null if it counts but is not open. */
type HeldSlot = RequestSlot | null

/** The slots of a pool, by owner. */
interface Slots {
  readonly all: Ledger<HeldSlot>
  /** The slots of requests that are as old as the delay. */
  readonly lasting: Ledger<null>
  /** The slots of requests that may be evicted. */
  readonly candidates: Set<Entry<HeldSlot>>
}

export class SlotEviction {
  readonly #pool: EvictionPool
  /** Milliseconds that a request waits before another one is evicted for it. */
  readonly #delay: number
  /** The slots of slow clients, with their strikes. */
  #slow = new Map<RequestSlot, number>()
  #ownersTimer: NodeJS.Timeout | null = null
  #slowTimer: NodeJS.Timeout | null = null
  /** The owner of the last request that needed room; null if there is no contention. */
  #contender: RequestOwner | null = null
  #contendedUntil = -Infinity
  /** Whether a request of an owner that does not hold the most has begun or waited since the last check. */
  #isNeeded = false
  /** The monotonic ms at which room was last restored for requests held back, or the contention began. */
  #relievedAt = -Infinity
  /**
   * All slots at the last check. The slots of requests that last, if one owner has more of them than the
   * contender.
   */
  #held = new Ledger<HeldSlot>()
  #lasting = new Ledger<null>()
  /** The number of slots kept for other tenants, and again for other callers of the tenant with the most. */
  #kept = 0

  constructor(pool: EvictionPool, delay: number) {
    this.#pool = pool
    this.#delay = delay
  }

  /** Called when a request starts to wait for an upload slot. */
  start(): void {
    this.#ownersTimer ??= setInterval(() => this.#checkOwners(), this.#delay / 2).unref()
    this.#slowTimer ??= setInterval(() => this.#checkSlow(), SLOW_INTERVAL).unref()
  }

  /** A request starts to wait for a connection. It does not wait if none came free for the delay. */
  requestWaits(owner: RequestOwner): void {
    this.start()
    if (!this.#pool.full || this.#contender !== null) return
    if (this.#held.weight > 0 && this.#held.greedierThan(owner) === null) return
    const now = performance.now()
    for (const { receiver, busySince } of this.#pool.slots(false))
      if (receiver !== null && now - busySince < this.#delay) return
    this.#evict([[owner, 1]], false, now)
    this.#keepRoom(now)
  }

  get isContended(): boolean {
    return this.#contender !== null
  }

  /** During contention: whether a request of this owner may begin. */
  admits(owner: RequestOwner): boolean {
    const needed = this.#neededRoom(...owner)
    if (needed < 2 * this.#kept) this.#contend(owner)
    return this.#pool.room > needed
  }

  /** During contention: who may begin now. */
  get admission(): Admission {
    const { room } = this.#pool
    return (tenant, caller) => room > this.#neededRoom(tenant, caller)
  }

  /**
   * The room that others find when a request of this owner begins.
   *
   * @param caller null for the caller that holds the least
   */
  #neededRoom(tenant: string, caller: string | null): number {
    const own = this.#lasting.account(tenant)
    if (own === null || this.#isBelowOthers(tenant)) return 0
    const held = caller === null ? 0 : (own.within(caller)?.weight ?? 0)
    const most = own.heaviest?.weight ?? 0
    const isBelow = most >= held + 2 || (caller !== null && this.#isBelowOthers(tenant, caller))
    return isBelow ? this.#kept : 2 * this.#kept
  }

  /**
   * Another holds more that lasts, or more in all: short requests of one owner do not hold back another with
   * a few that last.
   */
  #isBelowOthers(...names: readonly string[]): boolean {
    return this.#lasting.greedierThan(names) !== null || this.#held.greedierThan(names) !== null
  }

  #contend(owner: RequestOwner): void {
    if (this.#contender === null) {
      this.#relievedAt = performance.now()
      this.#contendedUntil = this.#relievedAt + CONTENTION
      this.#lasting = new Ledger()
    }
    this.#contender = owner
    this.#isNeeded = true
  }

  stop(): void {
    if (this.#ownersTimer !== null) clearInterval(this.#ownersTimer)
    if (this.#slowTimer !== null) clearInterval(this.#slowTimer)
    this.#ownersTimer = null
    this.#slowTimer = null
    this.#slow.clear()
    this.#contender = null
    this.#held = new Ledger()
  }

  get #waiting(): number {
    return this.#pool.waitingRequests.size + this.#pool.waitingUploads.size
  }

  #checkOwners(): void {
    const now = performance.now()
    if (now >= this.#contendedUntil) this.#contender = null
    this.#held = new Ledger()
    if (this.#waiting === 0 && !this.isContended) return this.stop()
    const { full, waitingRequests, waitingUploads } = this.#pool
    const since = now - this.#delay
    this.#evict([...waitingUploads.overdue(since)], true, now)
    // Otherwise a connection is being opened for them.
    if (full) this.#evict([...waitingRequests.overdue(since)], false, now)
    this.#keepRoom(now)
    // After the contention nothing else would wake those that were held back.
    if (waitingRequests.size > 0) this.#pool.serve()
  }

  /** Ends requests of those who hold more than the contender, until there is room. */
  #keepRoom(now: number): void {
    const contender = this.#contender
    if (contender === null) return
    const slots = this.#slots(false, now)
    // An owner that ends its requests, to open others that do not last yet, stays the one with the most.
    if (slots.lasting.greedierThan(contender) !== null) {
      this.#lasting = slots.lasting
      if (this.#isNeeded) this.#contendedUntil = now + CONTENTION
    }
    this.#isNeeded = false
    const { capacity, room } = this.#pool
    this.#kept = capacity < MIN_CAPACITY ? 0 : Math.max(1, Math.floor(capacity * KEPT_SHARE))
    const parts = this.#relievesHeldBack(now) ? 3 : 2
    const missing = Math.min(parts * this.#kept - room, MAX_EVICTIONS)
    for (let ended = 0; ended < missing; ended++) if (!evictOne(slots, contender, now)) return
  }

  #relievesHeldBack(now: number): boolean {
    const pause = this.#delay * HELD_BACK_FACTOR
    if (now - this.#relievedAt < pause || !this.#pool.waitingRequests.isOverdue(now - pause)) return false
    this.#relievedAt = now
    return true
  }

  /**
   * Evicts at once, for a request that the full queue refuses.
   *
   * @returns whether a request was evicted
   */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    const now = performance.now()
    return evictOne(this.#slots(uploads, now), owner, now)
  }

  /** @param overdue owners of waiting requests, and how many */
  #evict(overdue: readonly (readonly [RequestOwner, number])[], uploads: boolean, now: number): void {
    if (overdue.length === 0) return
    const slots = this.#slots(uploads, now)
    let ended = 0
    for (const [owner, count] of overdue) {
      for (let i = 0; i < count && ended < MAX_EVICTIONS; i++, ended++) {
        if (!evictOne(slots, owner, now)) break
        slots.all.add(null, owner)
        if (!uploads) this.#contend(owner)
      }
    }
  }

  /**
   * @param uploads whether only upload slots count, including the slots of requests that wait for a
   *   connection
   */
  #slots(uploads: boolean, now: number): Slots {
    const all = new Ledger<HeldSlot>()
    const candidates = new Set<Entry<HeldSlot>>()
    const lasting = new Ledger<null>()
    for (const slot of this.#pool.slots(uploads)) {
      const { receiver, busySince, uploads: holds } = slot
      if (receiver === null || (uploads && !holds)) continue
      const held = all.add(slot, receiver.owner)
      const age = now - busySince
      if (age < this.#delay) continue
      lasting.add(null, receiver.owner)
      if (uploads || rank(slot) < WORKING || age >= this.#delay * WORK_FACTOR) candidates.add(held)
    }
    if (!uploads) this.#held = all
    else
      for (const { receiver, uploads: holds } of this.#pool.waitingRequests)
        if (holds) all.add(null, receiver.owner)
    return { all, lasting, candidates }
  }

  /** Upload slots by owner. */
  get uploadSlots(): Ledger<HeldSlot> {
    return this.#slots(true, performance.now()).all
  }

  #checkSlow(): void {
    // Those that are held back would get no slot of a slow client.
    const heldBack = this.isContended && this.#pool.room > 0 ? this.#pool.waitingRequests.size : 0
    const waiting = this.#waiting - heldBack
    if (waiting === 0) return this.#slow.clear()
    const slow = new Map<RequestSlot, number>()
    let total = 0
    for (const slot of this.#pool.slots(this.#pool.waitingUploads.size > 0)) {
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

/**
 * Ends what the owner with the most gives up for `owner`.
 *
 * @returns whether there is such an owner
 */
function evictOne({ all, candidates }: Slots, owner: RequestOwner, now: number): boolean {
  const victim = all.victim(candidates, owner, dispensableFirst(now))
  if (victim === null) return false
  candidates.delete(victim)
  victim.remove()
  victim.item?.close(new Evicted())
  return true
}

/** The rank of a request whose upstream works on it. */
const WORKING = 2

/** Lower ranks are evicted first: what waits for a client, then a response or an upload that is under way. */
function rank(slot: RequestSlot): number {
  if (slot.waitsForClient) return 0
  return slot.responding || slot.uploads ? 1 : WORKING
}

/** The order of eviction: by rank, then the slowest first. An event stream comes before a download. */
function dispensableFirst(now: number): Order<HeldSlot> {
  return ({ item: one }, { item: other }) =>
    one === null || other === null ? 0 : rank(one) - rank(other) || one.rate(now) - other.rate(now)
}
