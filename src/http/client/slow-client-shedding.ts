/**
 * Takes connections from clients that are slow, at sending a body or at reading an answer, while others wait for one: a
 * slow client may be honest, but can't hold what others need.
 */

import { SlowClient } from './hop.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

/** Milliseconds between two looks. */
const LOOK = 1000
/** Bytes that a client moves between them, or is slow. */
const LEAST = 1024
/** Slow at so many looks in a row; fewer where those who wait are many. */
const LOOKS = 5
const LOOKS_CROWDED = 2
/** Requests that wait, for each connection that there is. */
const CROWDED = 0.25

export interface Crowd {
  /** Established, whatever they do. */
  readonly connections: Iterable<UpstreamConnection>
  /** Requests that wait for a connection. */
  readonly waiting: number
}

export class SlowClientShedding {
  readonly #crowd: Crowd
  #slow = new Map<UpstreamConnection, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(crowd: Crowd) {
    this.#crowd = crowd
  }

  /** Somebody waits. */
  begin(): void {
    this.#timer ??= setInterval(look, LOOK, this).unref()
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#slow.clear()
  }

  look(): void {
    const { connections, waiting } = this.#crowd
    if (waiting === 0) return this.end()
    const slow = new Map<UpstreamConnection, number>()
    let all = 0
    for (const connection of connections) {
      all++
      if (connection.isHeldBack(LEAST)) slow.set(connection, (this.#slow.get(connection) ?? 0) + 1)
    }
    this.#slow = slow
    const patience = waiting > all * CROWDED ? LOOKS_CROWDED : LOOKS
    const slowest = [...slow].filter(([, looks]) => looks >= patience).sort(([, a], [, b]) => b - a)
    for (const [connection] of slowest.slice(0, waiting))
      connection.lost(new SlowClient('the client is slow, and others wait'))
  }
}

function look(shedding: SlowClientShedding): void {
  shedding.look()
}
