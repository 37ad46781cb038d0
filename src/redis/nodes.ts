/**
 * The known servers of one deployment. ioredis never forgets a node that a cluster has named, so their number is bounded;
 * only a faulty or hostile cluster reaches the bound.
 */

import { ProtocolError } from './resp.ts'

/** Servers known to one client in its lifetime. Redis Cluster is designed for up to 1,000 nodes. */
const MAX_NODES = 4096

export interface NodeAddress {
  readonly host: string
  readonly port: number
}

export class Nodes {
  readonly #known: Set<string>

  /** @param configured always known, so that they stay reachable */
  constructor(configured: readonly NodeAddress[]) {
    this.#known = new Set(configured.map(keyOf))
  }

  /** @throws ProtocolError when there are too many */
  add(nodes: readonly NodeAddress[]): void {
    const added = nodes.map(keyOf).filter((key) => !this.#known.has(key))
    if (this.#known.size + added.length > MAX_NODES) throw new ProtocolError('the cluster has too many nodes')
    for (const key of added) this.#known.add(key)
  }
}

function keyOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}
