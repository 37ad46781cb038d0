/**
 * ioredis' cluster client with a reconnect of its own. ioredis stays `ready` or `disconnecting` forever, without any node,
 * when it loses its last node during its check of the cluster's state; test/redis/fuzz reproduces it.
 */

import { Cluster } from 'ioredis'

/** Milliseconds between checks. */
const CHECK_INTERVAL = 1000
/** Checks in a row without a node before a reconnect. */
const FAILED_CHECKS = 4

export class ReconnectingCluster extends Cluster {
  readonly #timer = setInterval(() => this.#check(), CHECK_INTERVAL).unref()
  #failed = 0

  override disconnect(reconnect = false): void {
    if (!reconnect) clearInterval(this.#timer)
    super.disconnect(reconnect)
  }

  /** While the cluster is down this adds to ioredis' own attempts, which does no harm. */
  #check(): void {
    this.#failed = this.status === 'ready' && this.nodes().length > 0 ? 0 : this.#failed + 1
    if (this.#failed < FAILED_CHECKS) return
    this.#failed = 0
    super.disconnect(true)
    void this.connect().catch(() => {})
  }
}
