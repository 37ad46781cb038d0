/**
 * Something for each peer. Clients in many places may send the same header section, and what is made of that is shared by
 * all of them (`made-of.ts`): what depends on the place as well is kept here.
 */

/** Peers known at once. With one more, all are forgotten, and what was kept is made again. */
const MOST = 256

export class ByPeer<V> {
  readonly #known = new Map<string, V>()

  /** @param peer the address of a connection's other end */
  get(peer: string): V | undefined {
    return this.#known.get(peer)
  }

  set(peer: string, value: V): void {
    if (this.#known.size >= MOST) this.#known.clear()
    this.#known.set(peer, value)
  }
}
