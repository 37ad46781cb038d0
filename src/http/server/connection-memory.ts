/**
 * The bound on message bytes that all client connections buffer: partial heads, heads of requests in flight
 * where they are large (over HTTP/2 all of a connection together), pipelined requests, bodies that wait for
 * their reader, and responses that clients have not read. Beyond it, connections give up what they hold:
 * connections of the address that holds the most first, the largest of an address first.
 */

import { InFlight } from '../../lib/in-flight.ts'
import { Ledger } from '../../lib/ledger.ts'
import type { ClientConnection } from './client-connection.ts'

/** The share of the limit at which releasing ends, so that not every further byte repeats the search. */
const LOW_WATER_MARK = 7 / 8

export class ConnectionMemory {
  #used = 0
  #limit: number
  #scheduled = false
  readonly #holders = new InFlight<ClientConnection>()
  readonly #release: (holder: ClientConnection) => void

  /**
   * @param limit bytes
   * @param release makes the connection drop its buffered bytes, or closes it; the change is reported by
   *   `update`
   */
  constructor(limit: number, release: (holder: ClientConnection) => void) {
    this.#limit = limit
    this.#release = release
  }

  configure(limit: number): void {
    this.#limit = limit
    this.#check()
  }

  get bytes(): number {
    return this.#used
  }

  /** Sets the number of bytes that the connection holds; 0 after its end. */
  update(holder: ClientConnection, bytes: number): void {
    this.#used += bytes - holder.heldBytes
    holder.heldBytes = bytes
    if (bytes === 0) this.#holders.remove(holder)
    else if (!this.#holders.has(holder)) this.#holders.add(holder)
    this.#check()
  }

  /** Deferred, as the caller may be inside a read. */
  #check(): void {
    if (this.#scheduled || this.#used <= this.#limit) return
    this.#scheduled = true
    setImmediate(this.#releaseSome)
  }

  readonly #releaseSome = (): void => {
    this.#scheduled = false
    if (this.#used <= this.#limit) return
    for (const holder of this.#largestFirst()) {
      if (this.#used <= this.#limit * LOW_WATER_MARK) return
      this.#release(holder)
    }
  }

  #largestFirst(): ClientConnection[] {
    const byAddress = new Ledger<ClientConnection>()
    let unidentified = 0
    for (const holder of this.#holders)
      byAddress.add(holder, [holder.address ?? `client ${unidentified++}`], holder.heldBytes)
    return byAddress.ranked((one, other) => other.weight - one.weight).map(({ item }) => item)
  }
}
