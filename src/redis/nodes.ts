/**
 * The servers of one deployment. A cluster names its own, and ioredis keeps what it has been told of each for good: so
 * there is a bound, which only a faulty or hostile cluster reaches.
 */

import { ProtocolError } from './resp.ts'

/** Servers that one client hears of in its life. Redis Cluster is made for 1,000 at a time. */
const MAX_NODES = 4096

export interface NodeAddress {
  readonly host: string
  readonly port: number
}

export class Nodes {
  readonly #known: Set<string>

  /** @param configured counts as heard of, so that these can always be reached */
  constructor(configured: readonly NodeAddress[]) {
    this.#known = new Set(configured.map(keyOf))
  }

  /** @throws ProtocolError when there are too many */
  learn(nodes: readonly NodeAddress[]): void {
    const heard = nodes.map(keyOf).filter((key) => !this.#known.has(key))
    if (this.#known.size + heard.length > MAX_NODES) throw new ProtocolError('the cluster has too many nodes')
    for (const key of heard) this.#known.add(key)
  }
}

function keyOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}
