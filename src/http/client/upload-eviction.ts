/**
 * Evicts requests of owners that hold more slots than the owners of waiting requests. The slowest upload of the owner
 * with the most slots goes first. If requests wait for a connection, responses to slow readers are candidates too.
 */

import { performance } from 'node:perf_hooks'
import { Evicted, type RequestOwner } from './upstream-request.ts'
import type { FairQueue } from './fair-queue.ts'
import { type SlotHolder, OwnerUsage } from './owner-usage.ts'
import type { RequestSlot } from './request-slot.ts'

export interface EvictionPool {
  /** All slots of the pool. */
  readonly slots: Iterable<RequestSlot>
  /** The pool may open no further connection. */
  readonly full: boolean
  readonly waitingRequests: FairQueue
  readonly waitingUploads: FairQueue
}

/** Evictions at one check, as each one searches all slots. */
const MAX_EVICTIONS = 32

interface Candidate extends SlotHolder {
  readonly slot: RequestSlot
}

export class UploadEviction {
  readonly #pool: EvictionPool
  /** Milliseconds that a request waits before another one is evicted for it. */
  readonly #delay: number
  #timer: NodeJS.Timeout | null = null

  constructor(pool: EvictionPool, delay: number) {
    this.#pool = pool
    this.#delay = delay
  }

  /** Called when a request starts to wait. */
  start(): void {
    this.#timer ??= setInterval(check, this.#delay / 2, this).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  check(): void {
    const { waitingRequests, waitingUploads } = this.#pool
    if (waitingRequests.size + waitingUploads.size === 0) return this.stop()
    this.#evictForOverdue(waitingUploads, true)
    // Otherwise a connection is being opened for them.
    if (this.#pool.full) this.#evictForOverdue(waitingRequests, false)
  }

  /** Evicts at once, for a request that the full queue refuses. @returns whether a request was evicted */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    const victim = this.#usageOf(uploads).findVictim(owner, this.#candidates(uploads, performance.now()))
    victim?.slot.close(new Evicted())
    return victim !== null
  }

  #evictForOverdue(queue: FairQueue, uploads: boolean): void {
    const now = performance.now()
    const overdue = [...queue.overdue(now - this.#delay)]
    if (overdue.length === 0) return
    const usage = this.#usageOf(uploads)
    const candidates = this.#candidates(uploads, now)
    let ended = 0
    for (const [owner, count] of overdue) {
      for (let i = 0; i < count && ended < MAX_EVICTIONS; i++, ended++) {
        const victim = usage.findVictim(owner, candidates)
        if (victim === null) break
        candidates.delete(victim)
        usage.add(victim.owner, -1)
        usage.add(owner)
        victim.slot.close(new Evicted())
      }
    }
  }

  /**
   * The requests that may be evicted. A request younger than the delay is exempt, as its rate is unknown. Of requests
   * that the upstream has completely, only those with a slow reader count: eviction of the others would waste the work
   * of the upstream.
   */
  #candidates(uploads: boolean, now: number): Set<Candidate> {
    const candidates = new Set<Candidate>()
    for (const slot of this.#pool.slots) {
      const { receiver, busySince } = slot
      if (receiver === null || now - busySince < this.#delay) continue
      if (uploads ? slot.uploads : slot.waitsForClient)
        candidates.add({ slot, owner: receiver.owner, rate: slot.rate(now) })
    }
    return candidates
  }

  /** @param uploads counts upload slots, otherwise all */
  #usageOf(uploads: boolean): OwnerUsage {
    const usage = new OwnerUsage()
    for (const { receiver, uploads: holds } of this.#pool.slots)
      if (receiver !== null && (holds || !uploads)) usage.add(receiver.owner)
    if (uploads)
      for (const { receiver, uploads: holds } of this.#pool.waitingRequests)
        if (holds) usage.add(receiver.owner)
    return usage
  }

  /** Upload slots by owner. */
  get uploadUsage(): OwnerUsage {
    return this.#usageOf(true)
  }
}

function check(eviction: UploadEviction): void {
  eviction.check()
}
