/**
 * The fleet node: the one process of an instance that follows the store's feed, exchanges messages with the
 * other instances, and holds the lock of an embedded store.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type FleetView,
  type HealthState,
  type InstanceSecrets,
  type Owner,
  type Registry,
  showGateway,
  type Started,
  type Store,
  storedTablesOf,
  type StoreLock,
  type StoreUnavailable,
  TABLES_IN_FILES,
  type TablesService,
} from '../../seats-admin/index.ts'
import { systemClock } from '../coherence/clock.ts'
import type { InstanceIdentity } from '../coherence/feeds.ts'
import { Instance } from '../coherence/instance.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { type Config, firstSecrets } from '../config/config.ts'
import { packageRoot, versionOf } from '../config/package-version.ts'
import type { ActiveConfig } from './active-config.ts'
import type { ConfigFiles } from './extensions.ts'
import { FleetSize } from './fleet-size.ts'
import type { RedisParts } from './redis-parts.ts'
import { AuditKeeping, deleteOld } from './retention.ts'
import { hasEnded, ownProcess } from './process-proof.ts'
import type { Startup } from './store-retries.ts'
import { StoreHealth, type StoreParts } from './store-health.ts'
import type { InstanceTables } from './instance-tables.ts'
import { TablePush } from './table-push.ts'
import type { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'

interface NodeParts {
  readonly active: ActiveConfig
  readonly store: Store
  /** The lock on an embedded store; null for a store that a fleet shares. */
  readonly lock: StoreLock | null
  readonly redis: RedisParts
  readonly log: Log
  readonly metrics: FleetMetrics
  /** Null: the configuration is from no files. */
  readonly files: Pick<ConfigFiles, 'check'> | null
  /** The tables of the store; null: they are in files. */
  readonly tables: InstanceTables | null
}

export class FleetNode {
  readonly store: Store
  readonly instance: Instance
  readonly redis: RedisParts
  /** Null: the tables are in files. */
  readonly tablesService: TablesService<Config> | null
  readonly #started: Started
  readonly #name = `${hostname()} ${process.pid}`
  #pruning: NodeJS.Timeout | null = null
  readonly #active: ActiveConfig
  readonly #audit: AuditKeeping
  readonly #lock: StoreLock | null
  readonly #health: StoreHealth
  readonly #size: FleetSize
  /** Settles with the newest call of {@link showGateway}: one runs at a time. */
  #showing: Promise<void> = Promise.resolve()

  /** The feed is followed from {@link start} on. */
  constructor({ active, store, lock, redis, log, metrics, files, tables }: NodeParts) {
    this.#active = active
    // What the workers of an instance have open does not end with its process.
    const process = active.config.workers === 1 ? ownProcess() : null
    this.#started = { startedAt: Date.now(), version: versionOf(packageRoot()), process }
    this.#audit = new AuditKeeping(store.audit, log)
    this.#lock = lock
    this.store = store
    this.redis = redis
    this.instance = new Instance({
      id: randomUUID(),
      name: this.#name,
      started: this.#started,
      shown: () => this.#shown,
      secrets: () => active.secrets,
      source: store,
      list: store.registry && withoutEnded(store.registry),
      bus: redis.bus,
      clock: systemClock,
      listener: metrics.listener(log),
      checkFiles: async () => files?.check(),
      ...(tables === null ? {} : { tables }),
      acknowledgesFrom: acknowledgesFrom(store, log),
    })
    const { instance } = this
    this.tablesService =
      tables === null ? null : new TablePush({ store, tables, instance, clock: systemClock })
    this.#size = new FleetSize(store.registry, systemClock.now)
    this.#health = new StoreHealth(log)
    store.health.listen((state) => this.#health.update(OWN_PROCESS, state))
  }

  get identity(): Pick<InstanceIdentity, 'id' | 'name'> {
    return { id: this.instance.id, name: this.#name }
  }

  /** The owner under which a worker opens the store; null for a store that a fleet shares. */
  get owner(): Owner | null {
    return this.#lock === null ? null : { lock: this.#lock.id, takes: false }
  }

  /** Resolves when another gateway has taken over the store: this one must stop deciding. */
  get superseded(): Promise<StoreUnavailable> {
    return this.store.ownership?.superseded ?? new Promise(() => {})
  }

  /** Rejects when the store can't be read. */
  async start(startup: Pick<Startup, 'retry'>): Promise<void> {
    await startup.retry(() => this.instance.start())
    void this.#audit.logHeads(this.#config.tenants.keys())
    this.show()
    await this.#countInstances()
    this.#pruning = setInterval(() => void this.#prune(), PRUNE_EVERY)
    this.#pruning.unref()
  }

  /**
   * Another configuration is active: values in Redis are sealed with its secrets, and the next sign of life
   * has its hash.
   */
  configured(): void {
    void this.#countInstances()
    this.show()
    this.redis.cache?.seal.setSecrets(firstSecrets(this.#config))
  }

  get #config() {
    return this.#active.config
  }

  /** The number of live instances, at least one. They are counted only if there are rate limits. */
  get size(): number {
    return this.#size.size
  }

  /**
   * Shows beside an embedded store what instances of a fleet show on the list of the store with their signs
   * of life.
   */
  show(): void {
    const { store } = this.#config
    if (store.kind !== 'sqlite') return
    const { secrets } = this.#active
    const shown = { id: this.instance.id, name: this.#name, ...this.#started, ...this.#shown, secrets }
    this.#showing = this.#showing.then(() => showGateway(store.path, shown))
  }

  get #shown() {
    const { config, refusedReload: refused } = this.#active
    return { config: config.hash, url: config.advertise, refused, tables: tablesText(config) }
  }

  /**
   * This instance as it is now; the others on the list of the store as of their latest signs of life. Rejects
   * when the store can't be read.
   *
   * @param tenant the tenant of the changes
   */
  readonly view = async (tenant: string): Promise<FleetView> => {
    await this.instance.refresh()
    const listed = (await this.store.registry?.instances()) ?? []
    const { id, applied, follower, recent } = this.instance
    const others = listed.filter((each) => each.id !== id)
    const beat = listed.find((each) => each.id === id)?.beat ?? 0
    const state = { id, name: this.#name, beat, applied, age: follower.age, checksFiles: true }
    const own = { ...state, ...this.#started, ...this.#shown }
    const instances = [own, ...others].sort(
      (a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0) || (a.id < b.id ? -1 : 1),
    )
    return { instances, changes: recent.of(tenant), redis: this.parts.redis ?? null }
  }

  /**
   * The secrets of this instance as they are now, and of the others on the list of the store. Rejects when
   * the store can't be read.
   */
  readonly secrets = async (tenant: string): Promise<readonly InstanceSecrets[]> => {
    const listed = (await this.store.registry?.secrets(tenant)) ?? []
    const { id, follower } = this.instance
    const beat = listed.find((each) => each.id === id)?.beat ?? 0
    const secrets = { [tenant]: this.#active.secrets[tenant] ?? [] }
    const own = { id, name: this.#name, beat, age: follower.age, secrets }
    return [own, ...listed.filter((each) => each.id !== id)]
  }

  /** @param changed called when the number of live instances has changed */
  onSize(changed: () => void): void {
    this.#size.changed = changed
  }

  async #countInstances(): Promise<void> {
    if (this.#config.rateLimits.size > 0) await this.#size.start()
    else this.#size.stop()
  }

  /** The node's parts in `/readyz`. */
  get parts(): StoreParts & { readonly redis?: 'ok' | 'degraded' } {
    const health = this.#health.parts
    const store = this.instance.follower.follows ? health : { ...health, store: 'unavailable' }
    if (this.redis.cache === null) return store
    return { ...store, redis: this.redis.health?.up === true ? 'ok' : 'degraded' }
  }

  /**
   * The health of the store as a worker sees it.
   *
   * @param state null: the worker has ended
   */
  updateWorkerHealth(worker: number, state: HealthState | null): void {
    this.#health.update(worker, state)
  }

  async #prune(): Promise<void> {
    await deleteOld(this.store, this.#audit, this.#config.auditRetention)
  }

  /** Called after the last decision. */
  async close(): Promise<void> {
    clearInterval(this.#pruning ?? undefined)
    this.#audit.close()
    this.#size.stop()
    await this.instance.close()
    await this.#showing
  }
}

/**
 * A revocation does not name an instance of the same machine that was removed from the list, if its process
 * has certainly ended: its connections have ended with it.
 */
function withoutEnded(registry: Registry): Registry {
  const reachable = async () =>
    (await registry.reachable()).filter(({ gone, process }) => !gone || !hasEnded(process))
  return { ...registry, reachable }
}

/** Where the instance has its tables, as it shows. */
function tablesText({ tables }: Config): string {
  return tables.from === 'files' ? TABLES_IN_FILES : storedTablesOf(tables.tenant)
}

/** This process; workers are numbered from 1. */
const OWN_PROCESS = 0

/** Milliseconds between deletions of what is old. */
const PRUNE_EVERY = 5 * 60_000

/**
 * Monotonic ms before which no write is acknowledged: the previous owner, or its worker, may still hold a
 * lease.
 */
function acknowledgesFrom({ ownership }: Store, { logger }: Log): number {
  if (ownership?.alone !== false) return Number.NEGATIVE_INFINITY
  // Each first start after a bootstrap is one of these.
  logger.info(
    { ms: LEASE + MARGIN },
    'this gateway uses the store for the first time: writes wait so long at first, in case another gateway decided on it just before',
  )
  return systemClock.now() + LEASE + MARGIN
}
