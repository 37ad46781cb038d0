/**
 * The product's parts in a simulated gateway. A broken variant replaces one of them (`variants.ts`), and the simulation
 * must detect it.
 */

import type { Clock } from '../../../src/coherence/clock.ts'
import type { InstanceList } from '../../../src/coherence/feeds.ts'
import { History } from '../../../src/coherence/history.ts'
import { Instance, type InstanceOptions } from '../../../src/coherence/instance.ts'
import type { ChangeListener } from '../../../src/coherence/feed-reading.ts'
import { Lease, type Renewer } from '../../../src/coherence/lease.ts'
import { type WorkerChannel, RemoteDecider } from '../../../src/coherence/worker-link.ts'
import { type Generation, DecisionCache } from '../../../src/decision/decision-cache.ts'
import { type DirectSource, SeatMemory, type SeatSource } from '../../../src/decision/seats/memory.ts'
import type { StoreClient } from './store-client.ts'

export interface Parts {
  instance(parts: InstanceOptions): Instance
  lease(renewer: Renewer, listeners: readonly ChangeListener[], clock: Clock): Lease
  history(): History
  remoteDecider(line: WorkerChannel, instance: Instance, history: History): RemoteDecider
  /** The list of instances that an instance uses. */
  list(store: StoreClient): InstanceList
  /** The source that memory reads from. */
  source(source: SeatSource): SeatSource
  /** The source of sessions and blocks. */
  direct(source: DirectSource): DirectSource
  memory(...options: ConstructorParameters<typeof SeatMemory>): SeatMemory
  /** The cache of decisions by caller. */
  decisions(memory: Generation): DecisionCache
}

export const REAL_PARTS: Parts = {
  instance: (parts) => new Instance(parts),
  lease: (renewer, listeners, clock) => new Lease(renewer, listeners, clock),
  history: () => new History(),
  remoteDecider: (line, instance, history) => new RemoteDecider(line, instance, history),
  list: (store) => store,
  source: (source) => source,
  direct: (source) => source,
  memory: (...options) => new SeatMemory(...options),
  decisions: (memory) => new DecisionCache(memory),
}
