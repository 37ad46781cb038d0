/**
 * The product's parts in a simulated gateway. A broken variant replaces one of them (`variants.ts`), and the simulation
 * must detect it.
 */

import { History } from '../../../src/coherence/history.ts'
import type { InstanceList } from '../../../src/coherence/feeds.ts'
import { Instance } from '../../../src/coherence/instance.ts'
import { Lease } from '../../../src/coherence/lease.ts'
import { RemoteDecider } from '../../../src/coherence/worker-link.ts'
import { DecisionCache } from '../../../src/decision/decision-cache.ts'
import { SeatMemory } from '../../../src/decision/seats/memory.ts'
import type { StoreClient } from './store-client.ts'

/** The constructor as a function. */
export function maker<A extends unknown[], V>(Class: new (...args: A) => V): (...args: A) => V {
  return (...args) => new Class(...args)
}

export const REAL_PARTS = {
  instance: maker(Instance),
  lease: maker(Lease),
  history: maker(History),
  remoteDecider: maker(RemoteDecider),
  /** The list of instances that an instance uses. */
  list: (store: StoreClient): InstanceList => store,
  memory: maker(SeatMemory),
  /** The cache of decisions by caller. */
  decisions: maker(DecisionCache),
}

export type Parts = typeof REAL_PARTS
