/**
 * The process that is the instance: it follows the store's feed, speaks with the other instances, and keeps the one
 * lock of an embedded store.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import {
  type HealthState,
  keepReserve,
  lockStore,
  openStore,
  type Owner,
  type Store,
  type StoreLocation,
  type StoreLock,
  type StoreUnavailable,
} from '../../seats-admin/index.ts'
import { systemClock } from '../coherence/clock.ts'
import { Instance } from '../coherence/instance.ts'
import { LEASE, MARGIN } from '../coherence/lease.ts'
import { type Config, firstSecrets, type RedisConfig, type StoreConfig } from '../config/config.ts'
import { BoundedEphemeral, ProcessEphemeral } from '../oidc/sign-in/ephemeral.ts'
import { RedisBus } from '../redis/bus.ts'
import { SIGN_IN_TIMEOUT, RedisEphemeral } from '../redis/ephemeral.ts'
import { Keys } from '../redis/keys.ts'
import { Seal } from '../redis/seal.ts'
import type { SharedCache } from '../redis/seat-cache.ts'
import type { Startup } from './startup.ts'
import { StoreHealth, type StoreParts } from './store-health.ts'
import type { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'

export class FleetNode {
  readonly store: Store
  readonly instance: Instance
  /** Null without Redis. */
  readonly cache: SharedCache | null
  /** Used sign-ins. */
  readonly ephemeral: BoundedEphemeral | ProcessEphemeral
  #pruning: NodeJS.Timeout | null = null
  readonly #lock: StoreLock | null
  /** Of a store in a file. */
  readonly #path: string | null
  readonly #startup: Startup
  readonly #bus: RedisBus | null
  readonly #health: StoreHealth

  private constructor(parts: {
    store: Store
    lock: StoreLock | null
    path: string | null
    cache: SharedCache | null
    ephemeral: BoundedEphemeral | ProcessEphemeral
    bus: RedisBus | null
    instance: Instance
    health: StoreHealth
    startup: Startup
  }) {
    this.store = parts.store
    this.#lock = parts.lock
    this.#path = parts.path
    this.cache = parts.cache
    this.ephemeral = parts.ephemeral
    this.#bus = parts.bus
    this.instance = parts.instance
    this.#health = parts.health
    this.store.health.listen((state) => this.#health.heard(OWN, state))
    this.#startup = parts.startup
  }

  /**
   * Rejects, with nothing left open, when the store can't be opened. Follows nothing before {@link start}.
   * @param locked called when no other gateway has the store, before it is opened, which may take a while
   */
  static async open(
    config: Config,
    { log, metrics, startup }: { log: Log; metrics: FleetMetrics; startup: Startup },
    locked: () => Promise<void>,
  ): Promise<FleetNode> {
    const lock = lockOf(config.store)
    let store: Store | null = null
    try {
      await locked()
      const at = locationOf(config.store, lock)
      store = await startup.until(
        () => openStore(at),
        (late) => late.close(),
      )
      const { cache, bus, ephemeral } =
        config.redis === null ? noRedis() : await openRedis(config.redis, firstSecrets(config), log)
      const instance = new Instance({
        id: randomUUID(),
        name: `${hostname()} ${process.pid}`,
        source: store,
        list: store.registry,
        bus,
        clock: systemClock,
        listener: metrics.listener(log),
        answersFrom: answersFrom(store, log),
      })
      const path = config.store.kind === 'sqlite' ? config.store.path : null
      const health = new StoreHealth(log)
      return new FleetNode({ store, lock, path, cache, ephemeral, bus, instance, startup, health })
    } catch (cause) {
      await store?.close()
      lock?.release()
      throw cause
    }
  }

  /** As whose process a worker opens the store; null where a fleet shares it. */
  get owner(): Owner | null {
    return this.#lock === null ? null : ownerBy(this.#lock, false)
  }

  /** Resolves when another gateway has become the owner of the store: this one must decide nothing any more. */
  get superseded(): Promise<StoreUnavailable> {
    return this.store.ownership?.superseded ?? new Promise(() => {})
  }

  /** Rejects when the store can't be read. */
  async start(): Promise<void> {
    await this.#startup.until(() => this.instance.start())
    void this.#keepReserve()
    this.#pruning = setInterval(() => void this.#prune(), PRUNE_EVERY)
    this.#pruning.unref()
  }

  /** A configuration has come into force: what is said by Redis is sealed with its secrets. */
  use(config: Config): void {
    this.cache?.seal.setSecrets(firstSecrets(config))
  }

  /** What `/readyz` says of it. */
  get parts(): StoreParts & { readonly redis?: string } {
    const found = this.#health.parts
    const store = this.instance.follower.follows ? found : { ...found, store: 'unavailable' }
    if (this.cache === null) return store
    return { ...store, redis: this.#bus?.up === true ? 'ok' : 'degraded' }
  }

  /** What a worker's calls have found of the store; null: it has ended. */
  heardOf(worker: number, state: HealthState | null): void {
    this.#health.heard(worker, state)
  }

  /** Sign-in sessions that are over long since. Another time, where the store can't be asked. */
  async #prune(): Promise<void> {
    await this.store.sessions.prune(Date.now() - KEPT_SESSIONS, PRUNED).catch(() => {})
    await this.#keepReserve()
  }

  /** Again and again: a start on a full disk may have taken it. */
  async #keepReserve(): Promise<void> {
    if (this.#path !== null) await keepReserve(this.#path)
  }

  /** To be called when nothing is decided any more. */
  async close(): Promise<void> {
    clearInterval(this.#pruning ?? undefined)
    await this.instance.close()
    this.cache?.connection.disconnect()
    this.ephemeral.close()
    await this.store.close()
    this.#lock?.release()
  }
}

/** This process, among its workers, which are numbered from 1. */
const OWN = 0

/** Milliseconds between two looks for sessions that are over, how many go at once, and for how long they are kept. */
const PRUNE_EVERY = 5 * 60_000
const PRUNED = 1000
const KEPT_SESSIONS = 24 * 3_600_000

interface Shared {
  readonly cache: SharedCache | null
  readonly bus: RedisBus | null
  readonly ephemeral: BoundedEphemeral | ProcessEphemeral
}

function noRedis(): Shared {
  return { cache: null, bus: null, ephemeral: new ProcessEphemeral() }
}

/** The client is loaded only where there is something to connect to. Connects in the background. */
async function openRedis(config: RedisConfig, secrets: readonly Uint8Array[], log: Log): Promise<Shared> {
  const { connectRedis, connectSubscriber } = await import('../redis/connect.ts')
  const connection = connectRedis(config, complainOnce(log))
  const subscriber = connectSubscriber(config, connection, () => {})
  const keys = new Keys(config.prefix)
  const used = new RedisEphemeral(() => connectRedis(config, () => {}, SIGN_IN_TIMEOUT), keys)
  const ephemeral = new BoundedEphemeral(new ProcessEphemeral(), used)
  const seal = new Seal(secrets)
  const bus = new RedisBus(connection, subscriber, keys, seal)
  return { cache: { connection, keys, seal }, bus, ephemeral }
}

/** A file takes one gateway at a time: it has no list of instances. */
function lockOf(store: StoreConfig): StoreLock | null {
  if (store.kind !== 'sqlite') return null
  const lock = lockStore(store.path)
  if (lock === null)
    throw new Error(`another gateway runs on the store ${store.path}: it takes one at a time`)
  return lock
}

function locationOf(store: StoreConfig, lock: StoreLock | null): StoreLocation {
  return store.kind === 'sqlite' && lock !== null ? { ...store, owner: ownerBy(lock, true) } : store
}

function ownerBy({ id }: StoreLock, takes: boolean): Owner {
  return { lock: id, takes }
}

/** The gateway that owned the store before, or a worker of it, may have a lease: it runs out first. */
function answersFrom({ ownership }: Store, { logger }: Log): number {
  if (ownership?.alone !== false) return Number.NEGATIVE_INFINITY
  logger.warn('another gateway may have a lease on the store: writes are answered after its end')
  return systemClock.now() + LEASE + MARGIN
}

/** Milliseconds between two lines about a Redis that stays away. */
const COMPLAIN_EVERY = 30_000
/** Characters of a cause: it may be what Redis said. */
const MAX_CAUSE = 200

function complainOnce({ logger }: Log): (cause: Error) => void {
  let last = Number.NEGATIVE_INFINITY
  return ({ message }) => {
    const now = systemClock.now()
    if (now - last < COMPLAIN_EVERY) return
    last = now
    logger.warn({ cause: message.slice(0, MAX_CAUSE) }, 'Redis does not answer: deciding goes on without it')
  }
}
