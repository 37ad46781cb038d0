/**
 * The tables of the store at one instance: prepares candidates, activates versions, and reads what it has
 * missed. `coherence/lease.ts` describes the protocol, `table-push.ts` the instance that writes.
 */

import {
  type ActiveTables,
  isSameTableSet,
  MAX_CANDIDATES,
  type NumberedChange,
  type TableFault,
  type TableFiles,
  tablesDigest,
  tablesNoticeOf,
  type TablesStore,
} from '../../seats-admin/index.ts'
import type { Clock } from '../coherence/clock.ts'
import type { TablesAsOf } from '../coherence/current-tables.ts'
import type { FeedTables } from '../coherence/instance.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Fault } from '../config/faults.ts'
import type { Log } from '../telemetry/logger.ts'
import type { Activation, WithTables } from './extensions.ts'
import type { TablesCache } from './tables-cache.ts'

/** The newest activations that are known: each one arrives by messages and by readings. */
const MAX_ACTIVATIONS = 100
/** The most faults of one answer, and the most characters of each. */
const MAX_FAULTS = 20
const MAX_MESSAGE = 1000
/**
 * Milliseconds before tables are built again that failed for no fault of their own, as in a worker: the cause may
 * have ended. Requests that wait for them must not make the gateway compile without a pause.
 */
export const BUILD_AGAIN_AFTER = 1000

export interface TablesParts {
  readonly store: Pick<
    TablesStore,
    'activeTables' | 'tablesCandidates' | 'tablesCandidate' | 'answerCandidate'
  >
  /** The tenant of the tables. */
  readonly tenant: string
  readonly cache: Pick<TablesCache, 'write'>
  readonly log: Log
  readonly clock: Pick<Clock, 'now'>
}

interface RunningGateway {
  /** The id of the instance. */
  readonly id: string
  /** Prepares a configuration in all processes of the instance. */
  prepare(config: Config): Promise<Activation>
  /** All processes of the instance decide by the configuration from now on. */
  activated(config: Config): void
  /** Tables were refused: the former ones stay, and the processes decide nothing by them. */
  refused(faults: readonly string[]): void
}

/** A candidate that is ready in all processes. */
interface Prepared {
  readonly candidate: string
  readonly files: TableFiles
  readonly config: Config
  readonly activate: Activation
}

interface Built {
  readonly version: number
  readonly digest: string
  readonly withTables: WithTables
  readonly config: Promise<Config>
}

export class InstanceTables implements FeedTables {
  readonly #parts: TablesParts
  #withTables: WithTables
  #gateway: RunningGateway | null = null
  #active: ActiveTables
  #prepared: Prepared | null = null
  /** The newest result of {@link build}. */
  #built: Built | null = null
  /** Settles with the newest work: a load, a preparation, or a reload of the main file. */
  #last: Promise<unknown> = Promise.resolve()
  /** A reading that has not begun; null: none. */
  #next: Promise<TablesAsOf> | null = null
  #isActivating = false
  /** Whether tables were activated that the instance has not read yet. */
  #isBehind = false
  /** The newest candidates, the oldest first, and whether each is answered. */
  readonly #candidates = new Map<string, boolean>()
  #isAnswering = false
  /** Whether the store may have candidates whose changes were not received. */
  #looksForCandidates = false
  /** The candidates whose activation has arrived, the oldest first. */
  readonly #activations = new Set<string>()
  /**
   * Why the active tables cannot be used, until this time in monotonic ms, or until others are active or the main
   * file changes; null: they can.
   */
  #refused: { readonly cause: unknown; readonly until: number } | null = null
  /** The version that was refused and logged. */
  #logged: number | null = null

  /** @param active the tables with which the gateway starts */
  constructor(parts: TablesParts, active: ActiveTables, withTables: WithTables) {
    this.#parts = parts
    this.#active = active
    this.#withTables = withTables
  }

  get tenant(): string {
    return this.#parts.tenant
  }

  get active(): ActiveTables {
    return this.#active
  }

  /** Called before the feed is followed. */
  attach(gateway: RunningGateway): void {
    this.#gateway = gateway
  }

  /** What has failed since is repeated with each reading of the feed. */
  received(changes: readonly NumberedChange[] | null): void {
    if (changes === null) {
      this.#missed()
      this.#looksForCandidates = true
    }
    for (const { tenant, kind, key } of changes ?? []) {
      if (tenant !== this.#parts.tenant) continue
      if (kind === 'tables-candidate') this.#propose(key)
      else if (kind === 'tables') this.#activate(key)
    }
    // Requests wait for these tables, and open streams go on by the former ones.
    if (this.#isBehind) void this.checkTables().catch(() => {})
    if (!this.#isAnswering) void this.#answerAll()
  }

  /** Single-flight for the calls before a reading begins. */
  checkTables(): Promise<TablesAsOf> {
    this.#next ??= this.#inTurn(() => {
      this.#next = null
      return this.#read()
    })
    return this.#next
  }

  /**
   * The main file has changed: the active tables are built with it, as is a candidate that is ready.
   *
   * @throws ConfigError with the faults of the tables with this file; nothing has changed then
   */
  reload(withTables: WithTables): Promise<Config> {
    return this.#inTurn(async () => {
      let config: Config | null = null
      // Once more after an activation: one candidate at a time is ready.
      while (config === null) config = await this.#load(this.#active, withTables)
      if (this.#refused !== null) this.#missed()
      return config
    })
  }

  /**
   * Builds files as the next version. Rejects with a ConfigError for their faults. One result is kept: a push
   * asks for it several times.
   */
  build(files: TableFiles): Promise<Config> {
    const [version, digest, withTables] = [this.#active.version + 1, tablesDigest(files), this.#withTables]
    const before = this.#built
    if (before?.version === version && before.digest === digest && before.withTables === withTables)
      return before.config
    const config = withTables({ version, digest, files })
    this.#built = { version, digest, withTables, config }
    return config
  }

  /** A change of the tables that the instance could not be ready for. */
  #missed(): void {
    this.#isBehind = true
    this.#refused = null
  }

  #activate(key: string): void {
    const notice = tablesNoticeOf(key)
    if (notice !== null && this.#hasArrived(notice.candidate)) return
    const prepared = this.#prepared
    this.#prepared = null
    // By its number alone, a version of a store that was restored would seem to be active already.
    if (notice !== null && isSameTableSet(notice, this.#active)) return
    if (prepared === null || prepared.candidate !== notice?.candidate) return this.#missed()
    const { files, config, activate } = prepared
    if (this.#isActivating || !isSameTableSet(config.tableSet, notice)) return this.#missed()
    const activation = this.#decideBy({ ...config.tableSet, files }, config, activate)
    // A reading shows this version once each process decides by it.
    void this.#inTurn(() => activation)
  }

  /** Whether the activation of the candidate has arrived before. */
  #hasArrived(candidate: string): boolean {
    if (this.#activations.has(candidate)) return true
    this.#activations.add(candidate)
    const [oldest] = this.#activations
    if (this.#activations.size > MAX_ACTIVATIONS && oldest !== undefined) this.#activations.delete(oldest)
    return false
  }

  /** One after the other: a worker that is updated late would go back to the former configuration. */
  async #decideBy(active: ActiveTables, config: Config, activate: Activation | undefined): Promise<void> {
    this.#isActivating = true
    const activation = activate?.()
    this.#activated(active, config)
    await activation
    this.#isActivating = false
  }

  #activated(active: ActiveTables, config: Config): void {
    this.#active = active
    this.#refused = null
    this.#parts.cache.write(active)
    this.#logged = null
    this.#gateway?.activated(config)
  }

  async #read(): Promise<TablesAsOf> {
    const { clock, store, tenant } = this.#parts
    if (this.#refused !== null && clock.now() < this.#refused.until) throw this.#refused.cause
    this.#refused = null
    this.#isBehind = false
    try {
      const { value, seq } = await store.activeTables(tenant)
      const { version, digest } = value
      if (isSameTableSet(value, this.#active)) return { version, digest, seq }
      const loaded = await this.#load(value, this.#withTables).catch((cause: unknown) =>
        this.#cannotUse(version, cause),
      )
      return loaded === null ? await this.#read() : { version, digest, seq }
    } catch (cause) {
      this.#isBehind ||= !this.#areFaulty
      throw cause
    }
  }

  /** Whether the active tables can only be used with another main file. */
  get #areFaulty(): boolean {
    return this.#refused?.until === Number.POSITIVE_INFINITY
  }

  /** They are not built again for each request. */
  #cannotUse(version: number, cause: unknown): never {
    const faults = linesOf(cause)
    if (this.#logged !== version) {
      const said = 'the tables of the store cannot be used: no request is decided'
      this.#parts.log.logger.error({ tables: version, faults }, said)
      this.#gateway?.refused(faults)
    }
    this.#logged = version
    // Others may be active by now.
    if (!this.#isBehind) {
      const { clock } = this.#parts
      const isFinal = cause instanceof ConfigError
      this.#refused = { cause, until: isFinal ? Number.POSITIVE_INFINITY : clock.now() + BUILD_AGAIN_AFTER }
    }
    throw cause
  }

  /** @returns null: others have become active in between, which these would bring back */
  async #load(tables: ActiveTables, withTables: WithTables): Promise<Config | null> {
    const before = this.#active
    const config = await withTables(tables)
    const activate = await this.#gateway?.prepare(config)
    if (this.#active !== before) return null
    // With the former main file, a candidate would undo the change of it.
    const outdated = withTables === this.#withTables ? null : this.#prepared
    if (outdated !== null) this.#prepared = null
    this.#withTables = withTables
    await this.#decideBy(tables, config, activate)
    if (outdated !== null) await this.#prepare(outdated.candidate, outdated.files).catch(() => {})
    return config
  }

  /** The first reading has the candidates of many pushes, of which all but the newest have ended. */
  #propose(candidate: string): void {
    if (!this.#candidates.has(candidate)) this.#candidates.set(candidate, false)
    const [oldest] = this.#candidates.keys()
    if (this.#candidates.size > MAX_CANDIDATES && oldest !== undefined) this.#candidates.delete(oldest)
  }

  /** An answer that the store does not take is repeated with the next reading of the feed. */
  async #answerAll(): Promise<void> {
    this.#isAnswering = true
    try {
      if (this.#looksForCandidates) await this.#lookForCandidates()
      for (let next = this.#unanswered; next !== null; next = this.#unanswered) {
        const candidate = next
        await this.#inTurn(() => this.#answer(candidate))
        if (this.#candidates.has(candidate)) this.#candidates.set(candidate, true)
      }
    } catch {
      // The store is away: no writer takes an answer.
    } finally {
      this.#isAnswering = false
    }
  }

  async #lookForCandidates(): Promise<void> {
    const { store, tenant } = this.#parts
    this.#looksForCandidates = false
    try {
      for (const candidate of await store.tablesCandidates(tenant)) this.#propose(candidate)
    } catch (cause) {
      this.#looksForCandidates = true
      throw cause
    }
  }

  get #unanswered(): string | null {
    for (const [candidate, isAnswered] of this.#candidates) if (!isAnswered) return candidate
    return null
  }

  /** Prepares a candidate, and tells its writer. */
  async #answer(candidate: string): Promise<void> {
    const { store, tenant } = this.#parts
    const files = await store.tablesCandidate(tenant, candidate)
    if (files === null || this.#gateway === null) return
    const faults = await this.#prepare(candidate, files).then(() => [], faultsOf)
    await store.answerCandidate(tenant, candidate, this.#gateway.id, JSON.stringify(faults))
  }

  /** One candidate at a time is ready: a newer one takes its place. */
  async #prepare(candidate: string, files: TableFiles): Promise<void> {
    const gateway = this.#gateway
    if (gateway === null) return
    const config = await this.build(files)
    this.#prepared = { candidate, files, config, activate: await gateway.prepare(config) }
  }

  #inTurn<V>(work: () => Promise<V>): Promise<V> {
    const result = this.#last.then(work, work)
    this.#last = result
    return result
  }
}

/** The faults of a set of files, for the answer to a push. */
export function faultsOf(cause: unknown): TableFault[] {
  const faults = cause instanceof ConfigError ? cause.faults : [unplaced(cause)]
  return faults.slice(0, MAX_FAULTS).map(({ place: { file, line, column }, message }) => ({
    file,
    line,
    column,
    message: message.slice(0, MAX_MESSAGE),
  }))
}

function unplaced(cause: unknown): Fault {
  const message = cause instanceof Error ? cause.message : String(cause)
  return { place: { file: '', line: 0, column: 0 }, message }
}

function linesOf(cause: unknown): string[] {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n')
}
