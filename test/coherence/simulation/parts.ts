/**
 * The parts of the product that a simulated gateway is put together from. Real ones; a broken variant replaces one of
 * them (`variants.ts`), and the simulation must notice.
 */

import type { Clock } from '../../../src/coherence/clock.ts'
import type { InstanceList } from '../../../src/coherence/feeds.ts'
import { History } from '../../../src/coherence/history.ts'
import { Instance, type InstanceOptions } from '../../../src/coherence/instance.ts'
import type { ChangeListener } from '../../../src/coherence/feed-reading.ts'
import { Lease, type Renewer } from '../../../src/coherence/lease.ts'
import { type WorkerChannel, RemoteDecider } from '../../../src/coherence/worker-link.ts'
import { type Generation, DecisionCache } from '../../../src/decision/decision-cache.ts'
import type { SeatSource } from '../../../src/decision/seats/memory.ts'
import type { StoreClient } from './store-client.ts'

export interface Parts {
  instance(parts: InstanceOptions): Instance
  lease(renewer: Renewer, hearers: readonly ChangeListener[], clock: Clock): Lease
  history(): History
  remoteDecider(line: WorkerChannel, instance: Instance, history: History): RemoteDecider
  /** The list of instances as an instance sees it. */
  list(store: StoreClient): InstanceList
  /** What memory asks. */
  source(source: SeatSource): SeatSource
  /** What is remembered of callers. */
  outcomes(memory: Generation): DecisionCache
}

export const REAL_PARTS: Parts = {
  instance: (parts) => new Instance(parts),
  lease: (renewer, hearers, clock) => new Lease(renewer, hearers, clock),
  history: () => new History(),
  remoteDecider: (line, instance, history) => new RemoteDecider(line, instance, history),
  list: (store) => store,
  source: (source) => source,
  outcomes: (memory) => new DecisionCache(memory),
}
