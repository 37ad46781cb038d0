/**
 * The composition root: builds a running gateway from a frozen configuration. A gateway is one instance of a fleet:
 * this process, with the data plane in it or in workers.
 */

import type { AddressInfo } from 'node:net'
import type { Config } from '../config/config.ts'
import { packageRoot, versionOf } from '../config/package-version.ts'
import { type DataPlanes, openInProcess } from './data-planes.ts'
import { FleetNode } from './fleet-node.ts'
import type { Listener } from '../http/server/listen.ts'
import { KeyUseWriter } from './key-use-writer.ts'
import { openOps } from './ops.ts'
import { Startup } from './startup.ts'
import { explainListening } from './surroundings/listener-fault.ts'
import { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'
import { TableComparison } from './table-comparison.ts'

/** The address of a listener of clients. */
export interface FrontAddress extends AddressInfo {
  readonly scheme: 'http' | 'https'
}

export interface GatewayAddresses {
  readonly front: AddressInfo
  readonly fronts: readonly FrontAddress[]
  readonly ops: AddressInfo
  /** Null without a listener for questions of other proxies. */
  readonly decision: AddressInfo | null
}

export class Gateway {
  readonly #metrics = new FleetMetrics()
  readonly #startup: Startup
  readonly #comparison: TableComparison
  /** Null until the store is open. */
  #node: FleetNode | null = null
  #config: Config
  #dataPlanes: DataPlanes | null = null
  #keyUses: KeyUseWriter | null = null
  #ops: Listener | null = null
  #version = 1
  #loadedAt = new Date()
  /** The latest reload, where it was refused. */
  #refused: { readonly at: Date; readonly faults: number; readonly first: string } | null = null
  #closing: Promise<void> | null = null

  private constructor(config: Config, log: Log) {
    this.#config = config
    this.#startup = new Startup(config, log)
    this.#comparison = new TableComparison(log, this.#metrics)
  }

  /**
   * Opens the store, compiles the tables and listens. Waits up to `startup_timeout` for a store that is slow or away;
   * the operators' listener responds meanwhile. Rejects, with nothing left open, when a step fails.
   */
  static async start(config: Config, log: Log): Promise<Gateway> {
    const gateway = new Gateway(config, log)
    try {
      await gateway.#open(log)
      return gateway
    } catch (cause) {
      await gateway.close(0)
      throw cause
    }
  }

  /** The listeners' addresses; actual ports where the configuration has 0. `front` is the first of `fronts`. */
  get addresses(): GatewayAddresses {
    const [front] = this.#dataPlanes?.addresses.fronts ?? []
    if (this.#dataPlanes === null || this.#ops === null || front === undefined)
      throw new Error('not listening')
    const { fronts: addresses, decision } = this.#dataPlanes.addresses
    const fronts = addresses.map((address, at) => ({
      ...address,
      scheme: this.#config.listen[at]?.tls == null ? ('http' as const) : ('https' as const),
    }))
    return { front, fronts, ops: this.#ops.address, decision }
  }

  /** False where every worker has ended. */
  get serving(): boolean {
    return (this.#dataPlanes?.workers.running ?? 0) > 0
  }

  /** Resolves when another gateway has taken over the store: this one must be closed. */
  get superseded(): Promise<Error> {
    return this.#node?.superseded ?? new Promise(() => {})
  }

  /**
   * Activates a configuration and its tables together: each request sees either the old ones or the new.
   * Rejects, without any change, when the tables are faulty or a changed setting needs a restart. What changes by meaning is
   * logged and counted later.
   */
  async reload(config: Config): Promise<void> {
    const fixed = changedForRestart(this.#config, config)
    if (fixed.length > 0) throw new Error(`a change of ${fixed.join(', ')} requires a restart`)
    await this.#dataPlanes?.reload(config)
    this.#node?.activate(config)
    this.#comparison.begin(this.#config, config)
    this.#config = config
    this.#version++
    this.#loadedAt = new Date()
  }

  /** Counts a reload. @returns the version of the active configuration, which `/readyz` shows */
  reloaded(): number {
    this.#refused = null
    this.#metrics.reloaded('ok')
    return this.#version
  }

  /** Counts a reload that changed nothing. @param faults lines, one at least @returns the version of the active configuration */
  reloadRefused([first = '', ...more]: readonly string[]): number {
    this.#refused = { at: new Date(), faults: 1 + more.length, first }
    this.#metrics.reloaded('faulty')
    return this.#version
  }

  /**
   * `/readyz` reports draining at once. After `delay` ms the listener closes, and requests in flight have `drain` ms.
   * Then everything is closed and on disk. Further calls return the same promise.
   */
  close(drain: number, delay = 0): Promise<void> {
    this.#closing ??= this.#close(drain, delay)
    return this.#closing
  }

  async #close(drain: number, delay: number): Promise<void> {
    this.#comparison.cancel()
    // The global timer, which tests hold.
    if (delay > 0) await new Promise<void>((resolve) => setTimeout(resolve, delay))
    await this.#dataPlanes?.close(drain)
    await this.#keyUses?.close()
    await this.#ops?.close(0)
    await this.#node?.close()
  }

  async #open(log: Log): Promise<void> {
    const parts = { log, metrics: this.#metrics, startup: this.#startup }
    const { registry } = this.#metrics
    this.#node = await FleetNode.open(this.#config, parts, async () => {
      const { ops, sources } = this.#config
      this.#ops = await explainListening(ops, sources.ops, () =>
        openOps(ops, {
          readiness: () => this.#readiness(),
          metrics: async () => ({
            type: registry.contentType,
            text: await (this.#dataPlanes?.metrics(registry) ?? registry.metrics()),
          }),
          hosts: () => this.#config.opsHosts,
        }),
      )
    })
    this.#addGauges(this.#node)
    const dataPlanes = await openDataPlanes(this.#config, this.#node, log)
    this.#dataPlanes = dataPlanes
    const { store } = this.#node
    this.#keyUses = new KeyUseWriter({ store, take: () => dataPlanes.takeKeyUses(), log })
  }

  #readiness() {
    const node = this.#node
    if (node === null || this.#dataPlanes === null)
      return { ready: false, parts: { waiting_for: this.#startup.waitingFor ?? 'the listener' } }
    const { parts, instance } = node
    const { running, size } = this.#dataPlanes.workers
    const draining = this.#closing !== null
    const { hash, routes, shadow } = this.#config
    return {
      ready: parts.store === 'ok' && running > 0 && !draining,
      parts: {
        ...parts,
        ...(size > 1 ? { workers: running < size ? `${running} of ${size}` : 'ok' } : {}),
        draining,
        seq: instance.follower.position?.seq ?? 0,
        config: {
          version: this.#version,
          loaded_at: this.#loadedAt.toISOString(),
          hash,
          routes: routes.length,
          ...(shadow === null ? {} : { shadow: { hash: shadow.hash, routes: shadow.routes.length } }),
          ...(this.#refused === null ? {} : { refused: this.#refused }),
        },
      },
    }
  }

  #addGauges(node: FleetNode): void {
    const { follower } = node.instance
    const metrics = this.#metrics
    metrics.info(
      'seatgate_config_info',
      'The route tables in use: the label is their content hash, and the value is always 1.',
      () => ({ hash: this.#config.hash }),
    )
    const build = { version: versionOf(packageRoot()), node: process.versions.node }
    metrics.info(
      'seatgate_build_info',
      'The running versions of Seatgate and Node.js. The value is always 1.',
      () => build,
    )
    for (const [end, help] of [
      ['expiration', 'When the certificates of a file expire, by the setting that names it, as Unix time.'],
      ['renewal', 'When they are to be renewed: 30 days before, in the last third of the lifetime at most.'],
    ] as const)
      metrics.read('gauge', `seatgate_certificate_${end}_timestamp_seconds`, help, () =>
        this.#config.certificates.map(({ setting, renewal, expiry }) => ({
          labels: { setting },
          value: Math.floor((end === 'renewal' ? renewal : expiry) / 1000),
        })),
      )
    metrics.gauge('seatgate_config_version', 'Increases with each successful reload.', () => this.#version)
    metrics.gauge(
      'seatgate_config_files_ok',
      '0 from a refused reload until the files are corrected. Meanwhile, a restart would fail, or use what was refused.',
      () => (this.#refused === null ? 1 : 0),
    )
    metrics.gauge(
      'seatgate_feed_age_seconds',
      'Age of the latest reading of the change feed. A lease lasts 1 second.',
      () => follower.age / 1000,
    )
    metrics.gauge(
      'seatgate_instance_seq',
      'Sequence number of the latest change that this instance has read.',
      () => follower.position?.seq ?? 0,
    )
    metrics.gauge(
      'seatgate_workers',
      'Number of processes that serve requests.',
      () => this.#dataPlanes?.workers.running ?? 0,
    )
    if (node.redis.cache !== null)
      metrics.gauge(
        'seatgate_redis_up',
        '1 while Redis accepts reads and writes and delivers messages.',
        () => Number(node.parts.redis === 'ok'),
      )
  }
}

/** Code for workers is loaded only where there are workers. */
async function openDataPlanes(config: Config, node: FleetNode, log: Log): Promise<DataPlanes> {
  if (config.workers === 1) return openInProcess(config, node, log)
  const { WorkerDataPlanes } = await import('./worker-data-planes.ts')
  return WorkerDataPlanes.open(config, node, log)
}

/** Changed settings that can't be applied at run time: sockets, files and processes depend on them. */
function changedForRestart(before: Config, after: Config): string[] {
  const keys = ['ops', 'workers', 'store', 'redis'] as const
  const changed: string[] = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  if (JSON.stringify(before.decision?.listen) !== JSON.stringify(after.decision?.listen))
    changed.push('decision')
  return socketsOf(before) === socketsOf(after) ? changed : ['listen', ...changed]
}

/** What their sockets are for. Certificates and the other settings of TLS apply to new connections. */
function socketsOf({ listen }: Config): string {
  return JSON.stringify(listen.map(({ host, port, tls }) => [host, port, tls !== null]))
}
