/**
 * What all connections hold of messages, against the bound that it has: parts of heads, large heads of requests under
 * way, requests sent ahead, answers that clients have not taken. Beyond it, connections of the address that holds most
 * are relieved of it first, the largest of an address first.
 */

import type { AddressShare, Shared } from './address-shares.ts'

/** A connection that holds something. */
export interface Holder<T> extends Shared<T> {
  /** Bytes, as counted here. */
  held: number
}

/** What there is left of the bound when some had to go, so that not each further byte is a look at all of them. */
const RELIEVED = 7 / 8

export class ConnectionMemory<T extends Holder<T>> {
  #used = 0
  #most: number
  #due = false
  readonly #holders = new Set<T>()
  readonly #relieve: (holder: T) => void

  /**
   * @param most bytes
   * @param relieve has it give up what it holds, or end, and tells of that by `holds`
   */
  constructor(most: number, relieve: (holder: T) => void) {
    this.#most = most
    this.#relieve = relieve
  }

  use(most: number): void {
    this.#most = most
    this.#look()
  }

  get bytes(): number {
    return this.#used
  }

  /** It holds so many from now on; 0: none, as when it is gone. */
  holds(holder: T, bytes: number): void {
    this.#used += bytes - holder.held
    holder.held = bytes
    if (bytes === 0) this.#holders.delete(holder)
    else this.#holders.add(holder)
    this.#look()
  }

  /** Not at once: whoever tells of it is in the midst of reading. */
  #look(): void {
    if (this.#due || this.#used <= this.#most) return
    this.#due = true
    setImmediate(this.#relieveSome)
  }

  readonly #relieveSome = (): void => {
    this.#due = false
    if (this.#used <= this.#most) return
    for (const holder of this.#largestFirst()) {
      if (this.#used <= this.#most * RELIEVED) return
      this.#relieve(holder)
    }
  }

  #largestFirst(): T[] {
    const byAddress = new Map<AddressShare<T>, number>()
    for (const { share, held } of this.#holders)
      if (share !== null) byAddress.set(share, (byAddress.get(share) ?? 0) + held)
    const ofAddress = ({ share, held }: T) => (share === null ? held : (byAddress.get(share) ?? held))
    return [...this.#holders].sort((one, other) => ofAddress(other) - ofAddress(one) || other.held - one.held)
  }
}
