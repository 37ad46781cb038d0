/**
 * The composition root: a frozen configuration in, a running gateway out. The only file that knows all the rooms.
 */

import type { AddressInfo } from 'node:net'
import { lockStore, type StoreLock } from '../seats-admin/index.ts'
import type { Config } from './config/config.ts'
import { type Compiled, Engine } from './engine.ts'
import { Pipeline, type Running } from './pipeline.ts'
import { TrustedProxies } from './proxy/forwarded.ts'
import { Upstream } from './proxy/upstream.ts'
import { type Listener, openFront } from './server/front.ts'
import { openOps } from './server/ops.ts'
import { AccessLog } from './telemetry/access-log.ts'
import type { Log } from './telemetry/logger.ts'
import { Metrics } from './telemetry/metrics.ts'

export class Gateway {
  readonly #log: Log
  readonly #engine: Engine
  readonly #lock: StoreLock
  readonly #metrics = new Metrics()
  readonly #pipeline: Pipeline
  #compiled: Compiled
  #running: Running
  #front: Listener | null = null
  #ops: Listener | null = null
  #version = 1
  #loadedAt = new Date()
  #closing: Promise<void> | null = null

  private constructor(engine: Engine, compiled: Compiled, lock: StoreLock, log: Log) {
    this.#engine = engine
    this.#lock = lock
    this.#log = log
    this.#compiled = compiled
    this.#running = running(compiled)
    this.#pipeline = new Pipeline(this.#running, new AccessLog(log.logger), this.#metrics)
    this.#addGauges()
  }

  /** Opens the store, compiles the tables, listens. Rejects, with nothing left open, when any of it fails. */
  static async start(config: Config, log: Log): Promise<Gateway> {
    const engine = await Engine.open(config, (state, cause) => {
      if (state === 'live') log.logger.info('the store answers: deciding from memory under a lease')
      else
        log.logger.error(
          { cause: cause instanceof Error ? cause.message : String(cause) },
          'the store does not answer',
        )
    })
    let gateway: Gateway | null = null
    try {
      gateway = new Gateway(engine, engine.compile(config), lockOf(config), log)
      await gateway.#listen()
      return gateway
    } catch (cause) {
      if (gateway === null) await engine.close()
      else await gateway.close(0)
      throw cause
    }
  }

  /** Where the listeners are; real ports where the configuration says 0. */
  get addresses(): { front: AddressInfo; ops: AddressInfo } {
    if (this.#front === null || this.#ops === null) throw new Error('not listening')
    return { front: this.#front.address, ops: this.#ops.address }
  }

  /**
   * Replaces configuration and tables at once: a request meets the old ones or the new, never a mix.
   * Throws, having changed nothing, when the tables are faulty or a setting changed that needs a restart.
   */
  reload(config: Config): void {
    const fixed = changedForRestart(this.#compiled.config, config)
    if (fixed.length > 0) throw new Error(`a change of ${fixed.join(', ')} needs a restart`)
    const compiled = this.#engine.compile(config)
    const before = this.#running
    this.#running = running(compiled)
    this.#compiled = compiled
    this.#pipeline.use(this.#running)
    this.#metrics.forgetRoutes(new Set(compiled.table.routes.map((route) => route.id)))
    this.#version++
    this.#loadedAt = new Date()
    // Requests under way keep the old pools until they are done.
    for (const upstream of before.upstreams.values()) void upstream.close()
  }

  /** Counts a reload; the version of the running table is in `/readyz`. */
  reloaded(result: 'ok' | 'faulty'): number {
    this.#metrics.reloaded(result)
    return this.#version
  }

  /** No new connections; requests in flight have `drain` ms. Then everything is closed and on disk. Once, however often called. */
  close(drain: number): Promise<void> {
    this.#closing ??= this.#close(drain)
    return this.#closing
  }

  async #close(drain: number): Promise<void> {
    await this.#front?.close(drain)
    await Promise.all([...this.#running.upstreams.values()].map((upstream) => upstream.close()))
    await this.#ops?.close(0)
    await this.#engine.close()
    this.#lock.release()
  }

  async #listen(): Promise<void> {
    const { listen, ops } = this.#compiled.config
    this.#ops = await openOps(ops, {
      readiness: () => this.#readiness(),
      metrics: async () => ({
        type: this.#metrics.registry.contentType,
        text: await this.#metrics.registry.metrics(),
      }),
    })
    this.#front = await openFront(listen, this.#pipeline)
  }

  #readiness() {
    const store = this.#engine.lease.live() ? 'ok' : 'unavailable'
    return {
      ready: store === 'ok' && this.#closing === null && this.#front !== null,
      parts: {
        store,
        draining: this.#closing !== null,
        config: {
          version: this.#version,
          loaded_at: this.#loadedAt.toISOString(),
          routes: this.#compiled.table.routes.length,
        },
      },
    }
  }

  #addGauges(): void {
    const { lease, memory } = this.#engine
    this.#metrics.gauge('seatgate_lease_live', '1 while memory may be used to decide.', () =>
      Number(lease.live()),
    )
    this.#metrics.gauge(
      'seatgate_feed_seq',
      'Newest change of the store that memory has heard of.',
      () => lease.seq,
    )
    this.#metrics.gauge('seatgate_config_version', 'Grows with each reload.', () => this.#version)
    this.#metrics.gauge('seatgate_log_lines_dropped', 'Lines that a stalled log reader cost.', () =>
      this.#log.dropped(),
    )
    this.#metrics.gauge('seatgate_memory_seat_names', 'Seat names held in memory.', () => memory.sizes.names)
    this.#metrics.gauge('seatgate_memory_seats', 'Seats held in memory by id.', () => memory.sizes.seats)
    this.#metrics.gauge('seatgate_memory_api_keys', 'API keys held in memory.', () => memory.sizes.keys)
  }
}

function lockOf({ store }: Config): StoreLock {
  const lock = lockStore(store.path)
  if (lock === null)
    throw new Error(`another gateway runs on the store ${store.path}: it takes one at a time`)
  return lock
}

function running(compiled: Compiled): Running {
  const upstreams = new Map<string, Upstream>()
  const { trustedProxies } = compiled.config
  for (const [name, config] of compiled.config.upstreams) {
    upstreams.set(name, new Upstream(config, { trustedProxies }))
  }
  return { judge: compiled.judge, upstreams, trustedProxies: new TrustedProxies(trustedProxies) }
}

/** Settings that sockets and files are bound to. */
function changedForRestart(before: Config, after: Config): string[] {
  const changed: string[] = []
  for (const key of ['listen', 'ops'] as const) {
    if (before[key].host !== after[key].host || before[key].port !== after[key].port) changed.push(key)
  }
  if (before.store.path !== after.store.path) changed.push('store')
  return changed
}
