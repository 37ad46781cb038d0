/**
 * Ends requests of callers that hold more places than others who wait for one: the slowest upload of the greediest
 * first. Where a connection is waited for, also an answer that its client is slow to read.
 */

import { performance } from 'node:perf_hooks'
import { Evicted, type RequestOwner } from './hop.ts'
import type { UpstreamConnection } from './upstream-connection.ts'
import type { FairQueue } from './fair-queue.ts'
import { type Holder, PlaceShares } from './place-shares.ts'

export interface Crowded {
  /** Established, whatever they do. */
  readonly connections: Iterable<UpstreamConnection>
  /** No further connection may be opened. */
  readonly full: boolean
  readonly waitingRequests: FairQueue
  readonly waitingUploads: FairQueue
}

/** Requests ended at one look, at most: each is looked for among all connections. */
const MOST_AT_ONCE = 32

interface Candidate extends Holder {
  readonly connection: UpstreamConnection
}

export class UploadEviction {
  readonly #crowd: Crowded
  /** Milliseconds that a request waits before another one is ended for it. */
  readonly #patience: number
  #timer: NodeJS.Timeout | null = null

  constructor(crowd: Crowded, patience: number) {
    this.#crowd = crowd
    this.#patience = patience
  }

  /** Somebody waits. */
  begin(): void {
    this.#timer ??= setInterval(look, this.#patience / 2, this).unref()
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  look(): void {
    const { waitingRequests, waitingUploads } = this.#crowd
    if (waitingRequests.size + waitingUploads.size === 0) return this.end()
    this.#relieve(waitingUploads, true)
    // Else a connection is being opened for them.
    if (this.#crowd.full) this.#relieve(waitingRequests, false)
  }

  /** At once, for a party that has found no room to wait in. @returns whether something was ended */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    const victim = this.#sharesOf(uploads).victim(owner, this.#candidates(uploads, performance.now()))
    victim?.connection.lost(new Evicted())
    return victim !== null
  }

  #relieve(line: FairQueue, uploads: boolean): void {
    const now = performance.now()
    const late = [...line.late(now - this.#patience)]
    if (late.length === 0) return
    const shares = this.#sharesOf(uploads)
    const candidates = this.#candidates(uploads, now)
    let ended = 0
    for (const [owner, count] of late) {
      for (let i = 0; i < count && ended < MOST_AT_ONCE; i++, ended++) {
        const victim = shares.victim(owner, candidates)
        if (victim === null) break
        candidates.delete(victim)
        shares.add(victim.owner, -1)
        shares.add(owner)
        victim.connection.lost(new Evicted())
      }
    }
  }

  /**
   * Those that may be ended, but for the youngest: how fast these are is not known. Of requests that are with the
   * upstream whole, only those whose client is slow to read: what the upstream does for the others would be lost.
   */
  #candidates(uploads: boolean, now: number): Set<Candidate> {
    const candidates = new Set<Candidate>()
    for (const connection of this.#crowd.connections) {
      const { receiver, busySince } = connection
      if (receiver === null || now - busySince < this.#patience) continue
      if (uploads ? connection.uploads : connection.idle)
        candidates.add({ connection, owner: receiver.owner, rate: connection.rate(now) })
    }
    return candidates
  }

  /** @param uploads counts places of uploads, and else connections */
  #sharesOf(uploads: boolean): PlaceShares {
    const shares = new PlaceShares()
    for (const { receiver, uploads: holds } of this.#crowd.connections)
      if (receiver !== null && (holds || !uploads)) shares.add(receiver.owner)
    if (uploads)
      for (const { receiver, uploads: holds } of this.#crowd.waitingRequests)
        if (holds) shares.add(receiver.owner)
    return shares
  }

  /** Places of uploads, by who holds them. */
  get uploadShares(): PlaceShares {
    return this.#sharesOf(true)
  }
}

function look(eviction: UploadEviction): void {
  eviction.look()
}
