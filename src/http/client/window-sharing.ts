/**
 * The window of an HTTP/2 connection to a target is shared by the bodies of all its requests. A target that
 * returns it as its handlers read (Go, hyper) lets bodies that are not read keep it. So a caller takes at
 * most 2/3 of the window, and a tenant 4/5, each as a multiple of what is left. Where it is used up
 * nevertheless, the unread bodies of the owner that holds the most of it are ended for those that wait.
 */

import { type Entry, Ledger } from '../../lib/ledger.ts'
import { MAX_PAYLOAD } from '../wire/http2/http2-frames.ts'
import { type ScarceWindow, unreadRoom } from '../wire/http2/sender.ts'
import { Evicted, type RequestOwner } from './upstream-request.ts'
import type { UpstreamStream } from './upstream-stream.ts'

/** Unread bytes as multiples of what is left of the window. */
const CALLER_SHARE = 2
const TENANT_SHARE = 4
/** Streams that one check ends: each costs the target a reset. */
const MAX_EVICTIONS = 32

type Unread = Entry<UpstreamStream>

const mostFirst = (one: Unread, other: Unread) => other.weight - one.weight

export class WindowShares {
  readonly #streams: Iterable<UpstreamStream>
  /** The unread bytes of each owner, and those owners by the id of a stream. */
  #unread = new Ledger<UpstreamStream>()
  readonly #owners = new Map<number, RequestOwner>()
  #version = -1

  constructor(streams: Iterable<UpstreamStream>) {
    this.#streams = streams
  }

  /** How many bytes of its body a stream may send. Unread bytes are counted if it may be fewer than it has. */
  of(id: number, window: ScarceWindow): number {
    const least = unreadRoom(window.taken, CALLER_SHARE, window)
    if (least >= window.wanted) return least
    if (window.version !== this.#version || !this.#owners.has(id)) this.#count(window.version)
    const owner = this.#owners.get(id)
    if (owner === undefined) return 0
    const caller = unreadRoom(this.#unread.held(...owner), CALLER_SHARE, window)
    return Math.min(caller, unreadRoom(this.#unread.held(owner[0]), TENANT_SHARE, window))
  }

  #count(version: number): void {
    this.#version = version
    this.#unread = new Ledger()
    this.#owners.clear()
    for (const stream of this.#streams) {
      const { owner } = stream.receiver
      this.#owners.set(stream.id, owner)
      if (stream.unreadBytes > 0) this.#unread.add(stream, owner, stream.unreadBytes)
    }
  }
}

/** Called from time to time while there is no window. Frees a frame's room for each body that waits. */
export function relieveWindow(streams: Iterable<UpstreamStream>): void {
  const unread = new Ledger<UpstreamStream>()
  const candidates = new Set<Unread>()
  const waiting: RequestOwner[] = []
  for (const stream of streams) {
    const { owner } = stream.receiver
    const entry = unread.add(stream, owner, stream.unreadBytes)
    if (stream.readsNothing() && stream.unreadBytes > 0) candidates.add(entry)
    if (stream.waitsForWindow) waiting.push(owner)
  }
  let ended = 0
  for (const owner of waiting)
    for (let freed = 0; freed < MAX_PAYLOAD && ended < MAX_EVICTIONS; ended++) {
      const victim = unread.victim(candidates, owner, mostFirst)
      if (victim === null) break
      candidates.delete(victim)
      victim.remove()
      freed += victim.weight
      victim.item.close(new Evicted())
    }
}
