/**
 * The product's parts in a simulated gateway. A broken variant replaces one of them (`variants.ts`), and the simulation
 * must detect it.
 */

import { History } from '../../../src/coherence/history.ts'
import type { InstanceList } from '../../../src/coherence/feeds.ts'
import type { Coherence } from '../../../src/coherence/coherence.ts'
import { Instance } from '../../../src/coherence/instance.ts'
import { Lease } from '../../../src/coherence/lease.ts'
import { RemoteDecider } from '../../../src/coherence/worker-link.ts'
import type { Committed } from '../../../seats-admin/model/change.ts'
import type { OpenCounts } from '../../../seats-admin/model/revocation.ts'
import type { Renewal, SessionStore } from '../../../seats-admin/index.ts'
import { DecisionEngine } from '../../../src/decision/engine.ts'
import { SeatMemory } from '../../../src/decision/seats/memory.ts'
import { ReceivedChanges } from '../../../src/decision/seats/received-changes.ts'
import { Changes } from '../../../src/pipeline/pending-changes.ts'
import {
  type OpenExchanges,
  Reevaluation,
  type ReevaluationClock,
} from '../../../src/pipeline/reevaluation.ts'
import { CurrentTables } from '../../../src/coherence/current-tables.ts'
import { InstanceTables } from '../../../src/runtime/instance-tables.ts'
import { TablePush } from '../../../src/runtime/table-push.ts'
import { evaluateCurrent } from '../../../src/pipeline/evaluate-current.ts'
import { readToken } from './authentication.ts'
import type { StoreClient } from './store-client.ts'
import type { Stream } from './streams.ts'

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
  /** How far memory has received the feed. */
  received: maker(ReceivedChanges),
  engine: maker(DecisionEngine),
  /** The caller of a token. */
  readToken,
  currentTables: maker(CurrentTables),
  instanceTables: maker(InstanceTables),
  tablePush: maker(TablePush),
  evaluateCurrent,
  /** The changes that open requests may have to be decided again for. */
  changes: () => new Changes(),
  reevaluation: (changes: Changes, exchanges: OpenExchanges<Stream>, clock: ReevaluationClock) =>
    new Reevaluation(changes, exchanges, clock),
  /** What a process says that it has cut for a revocation. */
  cutBy: (changes: Changes, mark: number): Promise<OpenCounts | null> => changes.cutBy(mark),
  /** The methods of the store that a renewal of a session uses. */
  sessions: (store: StoreClient): RenewalStore => sessionsOf(store, true),
  /** Announces a renewal. */
  announceRenewal: (coherence: Coherence) => (committed: Committed) => coherence.announce(committed),
}

type RenewalStore = Pick<SessionStore, 'sessionById' | 'claimRenewal' | 'giveBack' | 'renew'>

/** @param isChecked as of `Database.renew` */
export function sessionsOf(store: StoreClient, isChecked: boolean): RenewalStore {
  return {
    sessionById: () => store.sessionById(),
    claimRenewal: (...asked) => store.claimRenewal(...asked),
    giveBack: () => store.giveBack(),
    renew: (_tenant, _id, _handle, renewal: Renewal) => store.renew(renewal, isChecked),
  }
}

export type Parts = typeof REAL_PARTS
