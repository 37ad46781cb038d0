/**
 * What is known of each place that says the same: those of many clients may. When there are too many places, all of it goes,
 * and is found out again.
 */

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
