/**
 * Lingering close: the end of a connection whose client may still be sending. A close with unread bytes
 * resets the connection, and the client may lose the last response (RFC 9112, section 9.6).
 */

import type { Socket } from 'node:net'
import { Ledger } from '../../lib/ledger.ts'

/** Times in ms. */
export interface LingeringLimits {
  /** The limit of lingering connections. Beyond it, the oldest one of the address with the most is closed. */
  readonly maxConnections: number
  /** The time for all remaining bytes of the client, and the time between two reads. */
  readonly time: number
  readonly idle: number
}

/** Bytes a second that all lingering connections discard together. */
const RATE = 64 * 1024 * 1024
/** Milliseconds between two portions of the rate. */
const TICK = 50
const SHARE = (RATE * TICK) / 1000

/** Milliseconds that remain at the shutdown of the gateway. */
const SHUTDOWN_TIME = 1000

export class LingeringConnections {
  #limits: LingeringLimits
  /** The lingering connections by client address. */
  readonly #all = new Ledger<LingeringConnection>()
  readonly #budget = new Budget()

  constructor(limits: LingeringLimits) {
    this.#limits = limits
  }

  /** Sets the limits for connections that begin to linger from now on. */
  configure(limits: LingeringLimits): void {
    this.#limits = limits
  }

  get size(): number {
    return this.#all.weight
  }

  /**
   * Sends `last`, ends the sending side, and discards incoming bytes until the client ends its side.
   *
   * @param socket previous readers have stopped
   */
  close(socket: Socket, last: string | Buffer = ''): void {
    if (socket.destroyed) return
    const { maxConnections, time, idle } = this.#limits
    if (this.size >= maxConnections) this.#closeOldest()
    const lingering = new LingeringConnection(socket, Math.min(idle, time), time, this.#budget)
    const entry = this.#all.add(lingering, [socket.remoteAddress ?? ''])
    socket.once('close', () => entry.remove())
    socket.end(last)
    socket.resume()
  }

  /**
   * The gateway shuts down: the remaining time is short.
   *
   * @param drain ms for the requests in flight
   */
  end(drain: number): void {
    const time = Math.min(this.#limits.time, drain, SHUTDOWN_TIME)
    this.#limits = { ...this.#limits, time }
    for (const { item } of this.#all) setTimeout(close, time, item.socket)
  }

  #closeOldest(): void {
    const oldest = this.#all.largest()?.first ?? null
    oldest?.remove()
    oldest?.item.socket.destroy()
  }
}

class LingeringConnection {
  readonly socket: Socket
  readonly #budget: Budget
  readonly #timer: NodeJS.Timeout

  constructor(socket: Socket, idle: number, time: number, budget: Budget) {
    this.socket = socket
    this.#budget = budget
    this.#timer = setTimeout(close, idle, socket)
    const end = setTimeout(close, time, socket)
    socket.once('close', () => {
      clearTimeout(end)
      clearTimeout(this.#timer)
    })
    socket.removeAllListeners('data')
    socket.on('data', (chunk) => this.#discard(chunk.length))
    socket.once('end', () => socket.destroy())
  }

  #discard(bytes: number): void {
    this.#timer.refresh()
    if (this.#budget.spend(bytes)) return
    this.socket.pause()
    this.#budget.enqueue(this)
  }

  resume(): void {
    // `refresh` would set a cleared timer again.
    if (this.socket.destroyed) return
    this.#timer.refresh()
    this.socket.resume()
  }
}

/** The rate limit for discarded bytes: reading them costs as much as reading an accepted request. */
class Budget {
  #remaining = SHARE
  readonly #waiting = new Set<LingeringConnection>()
  #timer: NodeJS.Timeout | null = null

  /** @returns false if the current portion is used up */
  spend(bytes: number): boolean {
    this.#remaining -= bytes
    this.#timer ??= setInterval(() => this.#renew(), TICK).unref()
    return this.#remaining > 0
  }

  enqueue(lingering: LingeringConnection): void {
    this.#waiting.add(lingering)
  }

  #renew(): void {
    this.#remaining = Math.min(this.#remaining + SHARE, SHARE)
    if (this.#remaining <= 0) return
    if (this.#waiting.size === 0 && this.#remaining === SHARE && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
    }
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const lingering of waiting) lingering.resume()
  }
}

function close(socket: Socket): void {
  socket.destroy()
}
