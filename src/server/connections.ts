/**
 * All connections of the front door, by what they do, and who has to go when there are too many: a client that holds a
 * connection without using it must not keep out one that would. Used by `front.ts`.
 */

import { performance } from 'node:perf_hooks'
import type { Socket } from 'node:net'
import { type Connection, connectionOf } from './connection.ts'
import { Queue } from './queue.ts'
import { behindSince, isSlow } from './slow.ts'

/** `opening`: no whole header section has come yet. `active`: a request is under way. `idle`: kept for the next one. */
export type ConnectionState = 'opening' | 'active' | 'idle'
/** `slow`: active, and all that is under way is a client that takes its time. */
export type Evicted = 'idle' | 'opening' | 'slow'

/** Milliseconds that a connection has for its first header section before another one may have its place. */
const FAIR_WAIT = 1000
/** The share of all connections beyond which those without a header section are an attack, and have no such time. */
const ATTACK_SHARE = 1 / 8

/** Milliseconds between two looks for slow ones. */
const LOOK = 250

export class Connections {
  readonly #opening = new Queue<Connection>()
  readonly #active = new Queue<Connection>()
  readonly #idle = new Queue<Connection>()
  readonly #evicted: (state: Evicted) => void
  /** Found by the last look for slow ones, and when that was. */
  #slow: Connection[] = []
  #lookedAt = -Infinity
  #most: number
  /** Whether it counts since when a connection is idle: only the end of the front door asks. */
  #timed = false

  /** @param most open at once */
  constructor(most: number, evicted: (state: Evicted) => void) {
    this.#most = most
    this.#evicted = evicted
  }

  /** Those there are stay, whatever the number. */
  use(most: number): void {
    this.#most = most
  }

  get counts(): Readonly<Record<ConnectionState, number>> {
    return { opening: this.#opening.size, active: this.#active.size, idle: this.#idle.size }
  }

  /** @returns false when there is no room, and nobody who could make any */
  admit(socket: Socket): boolean {
    if (this.#size >= this.#most && !this.#makeRoom()) return false
    const connection = connectionOf(socket)
    connection.since = performance.now()
    this.#opening.add(connection)
    socket.once('close', () => connection.queue?.remove(connection))
    return true
  }

  /** A whole header section has come. */
  begun(connection: Connection): void {
    if (connection.queue === this.#active || connection.queue === null) return
    connection.queue.remove(connection)
    this.#active.add(connection)
  }

  /** An answer is out; the pipeline knows. */
  answered(connection: Connection): void {
    if (connection.answering > 0 || connection.queue === null) return
    // All that is left of it would be held for as long as the connection is.
    if (connection.last?.request.complete === true) connection.last = null
    connection.read = connection.socket.bytesRead
    if (this.#timed) connection.since = performance.now()
    connection.queue.remove(connection)
    this.#idle.add(connection)
  }

  /** Those with a request under way. */
  get active(): Connection[] {
    return this.#active.all()
  }

  /**
   * Closes those on which nothing has come for this long, and that wait for a request. One on which a part of a header
   * section has come has the time that a header section has.
   */
  closeQuiet(forMs: number): void {
    const now = performance.now()
    for (const connection of [...this.#opening.all(), ...this.#idle.all()]) {
      const { socket, read } = connection
      if (socket.bytesRead !== read) continue
      if (now - connection.since >= forMs) socket.destroySoon()
    }
  }

  /** From now on, time is counted for those that are kept. */
  startClock(): void {
    this.#timed = true
    const now = performance.now()
    for (const connection of [...this.#opening.all(), ...this.#idle.all()]) connection.since = now
  }

  /**
   * Cuts those whose client has taken nothing of its answer for this long: also an answer of the gateway's own, or what
   * an upstream has long been done with. To be called about once a second.
   */
  cutStalled(forMs: number): void {
    const now = performance.now()
    for (const connection of this.#active.all())
      if (!connection.upgraded && now - behindSince(connection, now) > forMs) connection.socket.destroy()
  }

  closeAll(): void {
    for (const queue of [this.#opening, this.#active, this.#idle])
      for (const { socket } of queue.all()) socket.destroy()
  }

  get #size(): number {
    return this.#opening.size + this.#active.size + this.#idle.size
  }

  #makeRoom(): boolean {
    const victim = this.#attacked
      ? this.#opening.first
      : (this.#longestIdle() ?? this.#longestOpening() ?? this.#anySlow())
    if (victim === null) return false
    this.#evicted(this.#reasonOf(victim))
    victim.queue?.remove(victim)
    victim.socket.destroy()
    return true
  }

  /** Then it is no time to close what has served its clients well. */
  get #attacked(): boolean {
    return this.#opening.size > this.#most * ATTACK_SHARE
  }

  #reasonOf({ queue }: Connection): Evicted {
    if (queue === this.#active) return 'slow'
    return queue === this.#idle ? 'idle' : 'opening'
  }

  /** All are looked at, so not each time. */
  #anySlow(): Connection | null {
    const now = performance.now()
    if (now - this.#lookedAt > LOOK) {
      this.#lookedAt = now
      this.#slow = this.#active.all().filter((each) => !each.upgraded && isSlow(each, now))
    }
    for (let each = this.#slow.pop(); each !== undefined; each = this.#slow.pop())
      if (each.queue === this.#active && isSlow(each, now)) return each
    return null
  }

  #longestIdle(): Connection | null {
    for (let each = this.#idle.first; each !== null; each = this.#idle.first) {
      if (each.socket.bytesRead === each.read) return each
      // A part of its next header section has come: it is as one that has sent none yet.
      each.since = performance.now()
      this.#idle.remove(each)
      this.#opening.add(each)
    }
    return null
  }

  #longestOpening(): Connection | null {
    const { first } = this.#opening
    return first !== null && performance.now() - first.since > FAIR_WAIT ? first : null
  }
}
