/** The gateways of a fleet, as the store lists them. */

import { CHANGE_KINDS, type FeedReading, type ObservedChange, type Position } from './change.ts'
import type { OpenCounts } from './revocation.ts'

/** What an instance has cut for one revocation, or would cut. */
export interface CutReport {
  /** The mark of the commit. */
  readonly mark: number
  /** Null: the instance does not know. */
  readonly cut: OpenCounts | null
}

/** A reload of its configuration that an instance refused: the previous configuration stays active. */
export interface RefusedReload {
  /** The time by the clock of the instance (RFC 3339). */
  readonly at: string
  /** The number of faults, and the text of the first one. */
  readonly faults: number
  readonly first: string
}

/** The fingerprints of the secrets of each tenant's tokens: all of them verify, and the first one signs. */
export type TenantSecrets = Readonly<Record<string, readonly string[]>>

export interface Instance {
  readonly id: string
  /** The host and the pid, for people. */
  readonly name: string
  /** The number of the latest sign of life, which the instance itself counts up. It never repeats. */
  readonly beat: number
  /** The newest change that it has applied, as of that beat. */
  readonly applied: number
  /**
   * The content hash of its route tables, as of that beat; null: an older version, which does not report it.
   */
  readonly config: string | null
  /**
   * The URL at which others reach the instance, as of that beat; null: its configuration does not say, or an
   * older version.
   */
  readonly url: string | null
  /** Its latest reload if it was refused, as of that beat; null: it was not, or an older version. */
  readonly refused: RefusedReload | null
  /**
   * Where its route tables are, as of that beat: `files`, or the text of `storedTablesOf`; null: an older
   * version, or not known yet.
   */
  readonly tables: string | null
  /**
   * Whether it reads its files again before it decides without a lease, and tells its secrets; false: an
   * older version.
   */
  readonly checksFiles: boolean
  /** Milliseconds since the beat by the store's clock. For people only: clocks step. */
  readonly age: number
  /**
   * The start in ms since the epoch, by the clock of the instance; null: an older version, which does not
   * report it.
   */
  readonly startedAt: number | null
  /** The version of Seatgate; null: an older version, which does not report it. */
  readonly version: string | null
  /**
   * What the instance understands, as {@link UNDERSTOOD}; null: an older version, which does not report it.
   */
  readonly understands: readonly string[] | null
  /** What it has cut for the revocations of the last seconds, as of that beat. */
  readonly cuts: readonly CutReport[]
}

/** Several blocks of one user. */
export const BLOCK_ORIGIN = 'block-origin'

/** Sessions that stay while their tokens are void. */
export const VOID_TOKENS = 'void-tokens'

/**
 * What this version understands, which each instance registers: kinds of changes, and what may be in records.
 */
export const UNDERSTOOD: readonly string[] = [...CHANGE_KINDS, BLOCK_ORIGIN, VOID_TOKENS]

/** An instance that may have something open. */
export interface ReachableInstance extends Pick<
  Instance,
  'id' | 'name' | 'beat' | 'applied' | 'understands' | 'cuts' | 'tables'
> {
  /** It was removed from the list for its silence. It decides nothing, and may be frozen. */
  readonly gone: boolean
  /** Its process, from which others on the same machine see that it has ended; null: it is not known. */
  readonly process: string | null
}

/** What an instance tells of itself as it registers. */
export type Started = Pick<Instance, 'startedAt' | 'version'> & Partial<Pick<ReachableInstance, 'process'>>

/** What an instance tells of itself with each sign of life, for people. */
export type Shown = Pick<Instance, 'config' | 'url'> & Partial<Pick<Instance, 'refused' | 'tables'>>

/** What the gateway on a store in a file shows of itself to other programs. */
export interface ShownGateway extends Pick<Instance, 'id' | 'name'>, Started, Shown {
  /** Null: an older version, which does not show it. */
  readonly secrets: TenantSecrets | null
}

/** An instance as others see it. */
type VisibleInstance = Omit<Instance, 'understands' | 'cuts'>

/** The secrets of an instance, in what it shows. */
export interface InstanceSecrets extends Pick<Instance, 'id' | 'name' | 'beat' | 'age'> {
  /** Null: an older version, which does not show it. */
  readonly secrets: TenantSecrets | null
}

/** A fleet, as one of its instances sees it. */
export interface FleetView {
  /**
   * The instances on the list of the store, and the one that answers. The first has run for the longest time.
   */
  readonly instances: readonly VisibleInstance[]
  /** The changes of one tenant, the newest first. */
  readonly changes: readonly ObservedChange[]
  /** The state of Redis as the instance that answers sees it; null: the instance has none. */
  readonly redis: 'ok' | 'degraded' | null
}

/** The instances of a shared store. All of them must apply a change before the response to its write. */
export interface Registry {
  /** Durable before it resolves. */
  register(id: string, name: string, started?: Started): Promise<void>
  /**
   * A heartbeat and a reading of the feed in one statement. `registered` is false when the instance is not
   * registered (any more): nothing was written then, and the reading must not be used for a lease.
   *
   * @param applied the newest change that every process of the instance has applied
   * @param cuts what every process of it has cut for the revocations of the last seconds
   */
  follow(
    id: string,
    beat: number,
    position: Position | null,
    applied: number,
    shown?: Shown,
    cuts?: readonly CutReport[],
  ): Promise<FeedReading & { readonly registered: boolean }>
  instances(): Promise<readonly Instance[]>
  /**
   * Replaces the secrets that an instance shows. Durable before it resolves; nothing if it is not registered.
   */
  showSecrets(id: string, secrets: TenantSecrets): Promise<void>
  /** @param tenant the only tenant to read; null: all */
  secrets(tenant: string | null): Promise<readonly InstanceSecrets[]>
  /**
   * The instances on the list, and those that {@link forget} has removed in the last minute and that have
   * neither registered again nor left.
   */
  reachable(): Promise<readonly ReachableInstance[]>
  /**
   * Removes an instance without a heartbeat since `beat`. Rejects for ten seconds after the connection to the
   * store has broken: a crash may have undone the newest heartbeats, so the observer may have missed some.
   */
  forget(id: string, beat: number): Promise<void>
  /** Removes an instance that has stopped deciding. */
  leave(id: string): Promise<void>
}
