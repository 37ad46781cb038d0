/**
 * The process that is the instance: it follows the store's feed, speaks with the other instances, and keeps the one
 * lock of an embedded store. Opened by the gateway, once a process tree.
 */

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { lockStore, openStore, type Store, type StoreLock } from '../seats-admin/index.ts'
import { systemClock } from './coherence/clock.ts'
import { Instance } from './coherence/instance.ts'
import type { Config, RedisConfig, StoreConfig } from './config/config.ts'
import { RedisBus } from './redis/bus.ts'
import { type Connection, isReady } from './redis/connection.ts'
import { Keys } from './redis/keys.ts'
import type { FleetMetrics } from './telemetry/fleet-metrics.ts'
import type { Log } from './telemetry/logger.ts'

export class Membership {
  readonly store: Store
  readonly instance: Instance
  /** For commands; null without Redis. */
  readonly redis: Connection | null
  readonly #lock: StoreLock | null
  readonly #bus: RedisBus | null

  private constructor(parts: {
    store: Store
    lock: StoreLock | null
    redis: Connection | null
    bus: RedisBus | null
    instance: Instance
  }) {
    this.store = parts.store
    this.#lock = parts.lock
    this.redis = parts.redis
    this.#bus = parts.bus
    this.instance = parts.instance
  }

  /** Rejects, with nothing left open, when the store can't be opened. Follows nothing before {@link start}. */
  static async open(config: Config, log: Log, metrics: FleetMetrics): Promise<Membership> {
    const lock = lockOf(config.store)
    let store: Store | null = null
    try {
      store = await openStore(config.store)
      const { redis, bus } = config.redis === null ? NO_REDIS : await openRedis(config.redis, log)
      const instance = new Instance({
        id: randomUUID(),
        name: `${hostname()} ${process.pid}`,
        source: store,
        list: store.registry,
        bus,
        clock: systemClock,
        listener: metrics.listener(log),
      })
      return new Membership({ store, lock, redis, bus, instance })
    } catch (cause) {
      await store?.close()
      lock?.release()
      throw cause
    }
  }

  /** Rejects when the store can't be read. */
  start(): Promise<void> {
    return this.instance.start()
  }

  /** What `/readyz` says of it. */
  get parts(): { readonly store: string; readonly redis?: string } {
    const store = this.instance.follower.age < 1000 ? 'ok' : 'unavailable'
    if (this.redis === null) return { store }
    return { store, redis: this.#bus?.up === true && isReady(this.redis) ? 'ok' : 'degraded' }
  }

  /** To be called when nothing is decided any more. */
  async close(): Promise<void> {
    await this.instance.close()
    this.redis?.disconnect()
    await this.store.close()
    this.#lock?.release()
  }
}

const NO_REDIS = { redis: null, bus: null }

/** The client is loaded only where there is something to connect to. Connects in the background. */
async function openRedis(config: RedisConfig, log: Log): Promise<{ redis: Connection; bus: RedisBus }> {
  const { connectRedis } = await import('./redis/connect.ts')
  const redis = connectRedis(config, complainOnce(log))
  const subscriber = connectRedis(config, () => {})
  return { redis, bus: new RedisBus(redis, subscriber, new Keys(config.prefix)) }
}

/** A file takes one gateway at a time: it has no list of instances. */
function lockOf(store: StoreConfig): StoreLock | null {
  if (store.kind !== 'sqlite') return null
  const lock = lockStore(store.path)
  if (lock === null)
    throw new Error(`another gateway runs on the store ${store.path}: it takes one at a time`)
  return lock
}

/** Milliseconds between two lines about a Redis that stays away. */
const COMPLAIN_EVERY = 30_000

function complainOnce({ logger }: Log): (cause: Error) => void {
  let last = Number.NEGATIVE_INFINITY
  return ({ message }) => {
    const now = systemClock.now()
    if (now - last < COMPLAIN_EVERY) return
    last = now
    logger.warn({ cause: message }, 'Redis does not answer: deciding goes on without it')
  }
}
