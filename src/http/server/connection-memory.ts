/**
 * What all connections hold of messages, against the bound that it has: parts of heads, large heads of requests under
 * way, requests sent ahead, answers that clients have not taken. Beyond it, connections of the address that holds most
 * are relieved of it first, the largest of an address first.
 */

import type { AddressShare, AddressMember } from './address-shares.ts'

/** A connection that holds something. */
export interface MemoryHolder<T> extends AddressMember<T> {
  /** Bytes, as counted here. */
  heldBytes: number
}

/** What there is left of the bound when some had to go, so that not each further byte is a look at all of them. */
const LOW_WATER_MARK = 7 / 8

export class ConnectionMemory<T extends MemoryHolder<T>> {
  #used = 0
  #limit: number
  #scheduled = false
  readonly #holders = new Set<T>()
  readonly #release: (holder: T) => void

  /**
   * @param most bytes
   * @param relieve has it give up what it holds, or end, and tells of that by `holds`
   */
  constructor(limit: number, release: (holder: T) => void) {
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

  /** It holds so many from now on; 0: none, as when it is gone. */
  update(holder: T, bytes: number): void {
    this.#used += bytes - holder.heldBytes
    holder.heldBytes = bytes
    if (bytes === 0) this.#holders.delete(holder)
    else this.#holders.add(holder)
    this.#check()
  }

  /** Not at once: whoever tells of it is in the midst of reading. */
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

  #largestFirst(): T[] {
    const byAddress = new Map<AddressShare<T>, number>()
    for (const { share, heldBytes } of this.#holders)
      if (share !== null) byAddress.set(share, (byAddress.get(share) ?? 0) + heldBytes)
    const ofAddress = ({ share, heldBytes }: T) =>
      share === null ? heldBytes : (byAddress.get(share) ?? heldBytes)
    return [...this.#holders].sort(
      (one, other) => ofAddress(other) - ofAddress(one) || other.heldBytes - one.heldBytes,
    )
  }
}
