/**
 * The tables of the store at one instance: prepares candidates, activates versions, and reads what it has
 * missed. `coherence/lease.ts` describes the protocol, `table-push.ts` the instance that writes.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ActiveTables,
  type NumberedChange,
  type TableFault,
  type TableFiles,
  tablesDigest,
  tablesNoticeOf,
  type TablesStore,
} from '../../seats-admin/index.ts'
import type { TablesAsOf } from '../coherence/current-tables.ts'
import type { InstanceTables as FeedTables } from '../coherence/instance.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Fault } from '../config/faults.ts'
import type { Log } from '../telemetry/logger.ts'
import type { Activation, WithTables } from './extensions.ts'
import type { TablesCache } from './tables-cache.ts'

/** Milliseconds between readings of the store that fail. */
const READ_EVERY = 1000
/** The most faults of one answer, and the most characters of each. */
const MAX_FAULTS = 20
const MAX_MESSAGE = 1000

export interface TablesParts {
  readonly store: Pick<TablesStore, 'activeTables' | 'tablesCandidate' | 'answerCandidate'>
  /** The tenant of the tables. */
  readonly tenant: string
  readonly cache: Pick<TablesCache, 'write'>
  readonly log: Log
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
  /** Whether a change has arrived since the newest reading of {@link checkTables} began. */
  #isBehind = false
  #isCatchingUp = false
  /** The version that was refused and logged. */
  #refused: number | null = null

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

  received(changes: readonly NumberedChange[] | null): void {
    if (changes === null) return this.#catchUp()
    for (const { tenant, kind, key } of changes) {
      if (tenant !== this.#parts.tenant) continue
      if (kind === 'tables-candidate') void this.#inTurn(() => this.#answer(key)).catch(() => {})
      else if (kind === 'tables') this.#activate(key)
    }
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
      const config = await this.#load(this.#active, withTables)
      this.#withTables = withTables
      const prepared = this.#prepared
      this.#prepared = null
      if (prepared !== null) await this.#prepare(prepared.candidate, prepared.files).catch(() => {})
      // This file may be the one with which a version of the store can be used.
      this.#catchUp()
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

  /**
   * Reads tables that the instance could not be ready for, until it succeeds: no request may come that needs
   * them, and what is open is to be decided by them.
   */
  #catchUp(): void {
    this.#isBehind = true
    if (!this.#isCatchingUp) void this.#readMissed()
  }

  async #readMissed(): Promise<void> {
    this.#isCatchingUp = true
    while (this.#isBehind) {
      this.#isBehind = false
      try {
        await this.checkTables()
      } catch (cause) {
        // Tables with faults stay so until the main file changes.
        this.#isBehind ||= !(cause instanceof ConfigError)
        await sleep(READ_EVERY, undefined, { ref: false })
      }
    }
    this.#isCatchingUp = false
  }

  #activate(key: string): void {
    const notice = tablesNoticeOf(key)
    if (notice !== null && notice.version <= this.#active.version) return
    const prepared = this.#prepared
    this.#prepared = null
    if (prepared === null || prepared.candidate !== notice?.candidate) return this.#catchUp()
    const { files, config, activate } = prepared
    if (config.tableSet.version !== notice.version) return this.#catchUp()
    void activate()
    this.#activated({ ...config.tableSet, files }, config)
  }

  #activated(active: ActiveTables, config: Config): void {
    this.#active = active
    this.#refused = null
    this.#parts.cache.write(active)
    this.#gateway?.activated(config)
  }

  async #read(): Promise<TablesAsOf> {
    const { store, tenant, log } = this.#parts
    const { value, seq } = await store.activeTables(tenant)
    const { version, digest } = value
    if (version === this.#active.version && digest === this.#active.digest) return { version, seq }
    try {
      await this.#load(value, this.#withTables)
    } catch (cause) {
      const faults = linesOf(cause)
      if (this.#refused !== version) {
        log.logger.error(
          { tables: version, faults },
          'the tables of the store cannot be used: no request is decided',
        )
        this.#gateway?.refused(faults)
      }
      this.#refused = version
      throw cause
    }
    return { version, seq }
  }

  async #load(tables: ActiveTables, withTables: WithTables): Promise<Config> {
    const config = await withTables(tables)
    const activate = await this.#gateway?.prepare(config)
    await activate?.()
    this.#activated(tables, config)
    return config
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
