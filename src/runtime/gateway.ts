/**
 * The composition root: a frozen configuration in, a running gateway out. It is one instance of a fleet: this process,
 * with the front door in it or in workers of its own.
 */

import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { type Doors, OwnDoor } from './data-planes.ts'
import { Membership } from './fleet-node.ts'
import type { Listener } from '../http/server/listen.ts'
import { openOps } from './ops.ts'
import { Startup } from './startup.ts'
import { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'

export class Gateway {
  readonly #metrics = new FleetMetrics()
  readonly #startup: Startup
  /** Null until the store is open. */
  #membership: Membership | null = null
  #config: Config
  #doors: Doors | null = null
  #ops: Listener | null = null
  #version = 1
  #loadedAt = new Date()
  #closing: Promise<void> | null = null

  private constructor(config: Config, startup: Startup) {
    this.#config = config
    this.#startup = startup
  }

  /**
   * Opens the store, compiles the tables, listens. Waits for a store that is slow or away, as long as the configuration
   * says; the operators' listener answers meanwhile. Rejects, with nothing left open, when any of it fails.
   */
  static async start(config: Config, log: Log): Promise<Gateway> {
    const gateway = new Gateway(config, new Startup(config.startupTimeout, log))
    try {
      await gateway.#open(log)
      return gateway
    } catch (cause) {
      await gateway.close(0)
      throw cause
    }
  }

  /** Where the listeners are; real ports where the configuration says 0. */
  get addresses(): { front: AddressInfo; ops: AddressInfo } {
    if (this.#doors === null || this.#ops === null) throw new Error('not listening')
    return { front: this.#doors.address, ops: this.#ops.address }
  }

  /** Resolves when another gateway has taken the store over: this one must be closed. */
  get superseded(): Promise<Error> {
    return this.#membership?.superseded ?? new Promise(() => {})
  }

  /**
   * Replaces configuration and tables at once: a request meets the old ones or the new, never a mix.
   * Rejects, having changed nothing, when the tables are faulty or a setting changed that needs a restart.
   */
  async reload(config: Config): Promise<void> {
    const fixed = changedForRestart(this.#config, config)
    if (fixed.length > 0) throw new Error(`a change of ${fixed.join(', ')} needs a restart`)
    await this.#doors?.reload(config)
    this.#membership?.use(config)
    this.#config = config
    this.#version++
    this.#loadedAt = new Date()
  }

  /** Counts a reload; the version of the running table is in `/readyz`. */
  reloaded(result: 'ok' | 'faulty'): number {
    this.#metrics.reloaded(result)
    return this.#version
  }

  /**
   * `/readyz` says so at once; after `delay` ms no new connections, and requests in flight have `drain` ms. Then
   * everything is closed and on disk. Once, however often called.
   */
  close(drain: number, delay = 0): Promise<void> {
    this.#closing ??= this.#close(drain, delay)
    return this.#closing
  }

  async #close(drain: number, delay: number): Promise<void> {
    if (delay > 0) await setTimeout(delay)
    await this.#doors?.close(drain)
    await this.#ops?.close(0)
    await this.#membership?.close()
  }

  async #open(log: Log): Promise<void> {
    const parts = { log, metrics: this.#metrics, startup: this.#startup }
    this.#membership = await Membership.open(this.#config, parts, async () => {
      this.#ops = await openOps(this.#config.ops, {
        readiness: () => this.#readiness(),
        metrics: () => this.#allMetrics(),
        hosts: () => this.#config.opsHosts,
      })
    })
    this.#addGauges(this.#membership)
    this.#doors = await openDoors(this.#config, this.#membership, log)
  }

  async #allMetrics(): Promise<{ type: string; text: string }> {
    const { registry } = this.#metrics
    return { type: registry.contentType, text: await (this.#doors?.metrics(registry) ?? registry.metrics()) }
  }

  #readiness() {
    const membership = this.#membership
    if (membership === null || this.#doors === null)
      return { ready: false, parts: { waiting_for: this.#startup.waitingFor ?? 'the front door' } }
    const { parts, instance } = membership
    const { running = 0, wanted = this.#config.workers } = this.#doors?.workers ?? {}
    const draining = this.#closing !== null
    return {
      ready: parts.store === 'ok' && running > 0 && !draining,
      parts: {
        ...parts,
        ...(wanted > 1 ? { workers: running < wanted ? `${running} of ${wanted}` : 'ok' } : {}),
        draining,
        seq: instance.follower.position?.seq ?? 0,
        config: {
          version: this.#version,
          loaded_at: this.#loadedAt.toISOString(),
          routes: this.#config.routes.length,
        },
      },
    }
  }

  #addGauges(membership: Membership): void {
    const { follower } = membership.instance
    const metrics = this.#metrics
    metrics.gauge('seatgate_config_version', 'Grows with each reload.', () => this.#version)
    metrics.gauge(
      'seatgate_feed_age_seconds',
      'Age of the newest reading of the store: a lease is good for 1.',
      () => follower.age / 1000,
    )
    metrics.gauge(
      'seatgate_instance_seq',
      'Newest change that this instance has read from the store.',
      () => follower.position?.seq ?? 0,
    )
    metrics.gauge('seatgate_workers', 'Processes that decide.', () => this.#doors?.workers.running ?? 0)
    if (membership.cache !== null)
      metrics.gauge('seatgate_redis_up', '1 while Redis answers and messages come through.', () =>
        Number(membership.parts.redis === 'ok'),
      )
  }
}

/** What workers take is loaded only where there are any. */
async function openDoors(config: Config, membership: Membership, log: Log): Promise<Doors> {
  if (config.workers === 1) return OwnDoor.open(config, membership, log)
  const { WorkerDoors } = await import('./worker-data-planes.ts')
  return WorkerDoors.open(config, membership, log)
}

/** Settings that sockets, files and processes are bound to. */
function changedForRestart(before: Config, after: Config): string[] {
  const keys = ['listen', 'ops', 'workers', 'store', 'redis'] as const
  return keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
}
