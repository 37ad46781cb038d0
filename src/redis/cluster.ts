/**
 * ioredis' client of a cluster, made to connect again where that one gives up. It stays `ready` or `disconnecting` for
 * good, without any node, when it loses its last node just as it asks whether the cluster is well: seen in the fuzz of
 * test/redis/fuzz.
 */

import { Cluster } from 'ioredis'

/** Milliseconds between two looks, and how many of these in a row find no node before it connects again. */
const LOOK_EVERY = 1000
const LOOKS = 4

export class LastingCluster extends Cluster {
  readonly #looking = setInterval(() => this.#look(), LOOK_EVERY).unref()
  #lost = 0

  override disconnect(reconnect = false): void {
    if (!reconnect) clearInterval(this.#looking)
    super.disconnect(reconnect)
  }

  /** While the cluster is away this comes on top of ioredis' own attempts, which does no harm. */
  #look(): void {
    this.#lost = this.status === 'ready' && this.nodes().length > 0 ? 0 : this.#lost + 1
    if (this.#lost < LOOKS) return
    this.#lost = 0
    super.disconnect(true)
    void this.connect().catch(() => {})
  }
}
