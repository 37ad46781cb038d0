/** The open connections of each client address. */

/** Connections of one address that one search inspects; the next search begins with others. */
const MAX_SCANNED = 64

/** A connection that is counted by address. */
export interface AddressMember<T> {
  /** All connections of its address; null if the address does not identify the client. */
  share: AddressShare<T> | null
}

/** All connections of one address. */
export class AddressShare<T> {
  readonly address: string
  readonly connections = new Set<T>()
  /** Scratch value of `eviction-order.ts`: the number of further victims from this address. */
  quota = 0

  constructor(address: string) {
    this.address = address
  }

  get size(): number {
    return this.connections.size
  }

  /** Searches the next connections of this address. @returns null if none of them is accepted */
  find(accepts: (connection: T) => boolean): T | null {
    let remaining = Math.min(this.size, MAX_SCANNED)
    for (const connection of this.connections) {
      if (remaining-- === 0) return null
      if (accepts(connection)) return connection
      this.connections.delete(connection)
      this.connections.add(connection)
    }
    return null
  }
}

export class AddressShares<T extends AddressMember<T>> {
  readonly #shares = new Map<string, AddressShare<T>>()
  #largest: AddressShare<T> | null = null
  /** Connections that have joined since the addresses were compared. */
  #joinedSinceScan = 0

  /** The number of connections of the address. */
  count(address: string | null): number {
    return address === null ? 0 : (this.#shares.get(address)?.size ?? 0)
  }

  share(address: string): AddressShare<T> | null {
    return this.#shares.get(address) ?? null
  }

  /** @param address null if many clients share it, as it then does not identify a client */
  join(connection: T, address: string | null): void {
    if (address === null) return
    const share = this.#shares.get(address) ?? new AddressShare<T>(address)
    if (share.size === 0) this.#shares.set(address, share)
    share.connections.add(connection)
    connection.share = share
    this.#joinedSinceScan++
  }

  leave(connection: T): void {
    const { share } = connection
    if (share === null) return
    connection.share = null
    share.connections.delete(connection)
    if (share.size === 0) this.#shares.delete(share.address)
  }

  /**
   * The address with the most connections. The comparison is repeated when a sixteenth as many connections as addresses
   * have joined.
   */
  largest(): AddressShare<T> | null {
    if (this.#joinedSinceScan * 16 >= this.#shares.size || (this.#largest?.size ?? 0) === 0) {
      this.#joinedSinceScan = 0
      this.#largest = null
      for (const share of this.#shares.values())
        if (share.size > (this.#largest?.size ?? 0)) this.#largest = share
    }
    return this.#largest
  }
}
