/**
 * Ends requests of callers that hold more places than others who wait for one: the slowest upload of the greediest
 * first. Where a connection is waited for, also an answer that its client is slow to read.
 */

import { performance } from 'node:perf_hooks'
import { Evicted, type RequestOwner } from './upstream-request.ts'
import type { UpstreamConnection } from './upstream-connection.ts'
import type { FairQueue } from './fair-queue.ts'
import { type SlotHolder, OwnerUsage } from './owner-usage.ts'

export interface EvictionPool {
  /** Established, whatever they do. */
  readonly connections: Iterable<UpstreamConnection>
  /** No further connection may be opened. */
  readonly full: boolean
  readonly waitingRequests: FairQueue
  readonly waitingUploads: FairQueue
}

/** Requests ended at one look, at most: each is looked for among all connections. */
const MAX_EVICTIONS = 32

interface Candidate extends SlotHolder {
  readonly connection: UpstreamConnection
}

export class UploadEviction {
  readonly #pool: EvictionPool
  /** Milliseconds that a request waits before another one is ended for it. */
  readonly #delay: number
  #timer: NodeJS.Timeout | null = null

  constructor(pool: EvictionPool, delay: number) {
    this.#pool = pool
    this.#delay = delay
  }

  /** Somebody waits. */
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
    // Else a connection is being opened for them.
    if (this.#pool.full) this.#evictForOverdue(waitingRequests, false)
  }

  /** At once, for a party that has found no room to wait in. @returns whether something was ended */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    const victim = this.#usageOf(uploads).findVictim(owner, this.#candidates(uploads, performance.now()))
    victim?.connection.close(new Evicted())
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
        victim.connection.close(new Evicted())
      }
    }
  }

  /**
   * Those that may be ended, but for the youngest: how fast these are is not known. Of requests that are with the
   * upstream whole, only those whose client is slow to read: what the upstream does for the others would be lost.
   */
  #candidates(uploads: boolean, now: number): Set<Candidate> {
    const candidates = new Set<Candidate>()
    for (const connection of this.#pool.connections) {
      const { receiver, busySince } = connection
      if (receiver === null || now - busySince < this.#delay) continue
      if (uploads ? connection.uploads : connection.waitsForClient)
        candidates.add({ connection, owner: receiver.owner, rate: connection.rate(now) })
    }
    return candidates
  }

  /** @param uploads counts places of uploads, and else connections */
  #usageOf(uploads: boolean): OwnerUsage {
    const usage = new OwnerUsage()
    for (const { receiver, uploads: holds } of this.#pool.connections)
      if (receiver !== null && (holds || !uploads)) usage.add(receiver.owner)
    if (uploads)
      for (const { receiver, uploads: holds } of this.#pool.waitingRequests)
        if (holds) usage.add(receiver.owner)
    return usage
  }

  /** Places of uploads, by who holds them. */
  get uploadUsage(): OwnerUsage {
    return this.#usageOf(true)
  }
}

function check(eviction: UploadEviction): void {
  eviction.check()
}
