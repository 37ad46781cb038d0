/**
 * A running gateway: reloads its configuration, shows its readiness, and closes. `start-gateway.ts` starts
 * it.
 */

import type { AddressInfo } from 'node:net'
import type { Config } from '../config/config.ts'
import type { ActiveConfig } from './active-config.ts'
import type { DataPlaneAddresses } from './data-plane.ts'
import type { DataPlanes } from './data-planes.ts'
import type { Reloadable, ReloadObserver, WithTables } from './extensions.ts'
import type { FleetNode } from './fleet-node.ts'
import type { InstanceTables } from './instance-tables.ts'
import type { Registry } from '../telemetry/metric-registry.ts'

/** The address of a listener of clients. */
interface FrontAddress extends AddressInfo {
  readonly scheme: 'http' | 'https'
}

interface GatewayAddresses {
  readonly front: AddressInfo
  readonly fronts: readonly FrontAddress[]
  readonly ops: AddressInfo
  /** The address for questions of other proxies; null if that listener is not configured. */
  readonly decision: AddressInfo | null
}

interface GatewayParts {
  readonly active: ActiveConfig
  readonly node: FleetNode
  readonly dataPlanes: DataPlanes
  readonly reloads: ReloadObserver
  /** The tables of the store; null: they are in files. */
  readonly tables: InstanceTables | null
  readonly ops: AddressInfo
  /** Closes all that the start has opened. @param drain ms that requests in flight have */
  readonly close: (drain: number) => Promise<void>
}

export class Gateway implements Reloadable {
  readonly #parts: GatewayParts
  /** The addresses of the data planes; null before they listen. */
  #addresses: DataPlaneAddresses | null = null
  #closing: Promise<void> | null = null

  constructor(parts: GatewayParts) {
    this.#parts = parts
    const { tables, dataPlanes, node } = parts
    tables?.attach({
      id: node.instance.id,
      prepare: (config) => dataPlanes.prepare(config),
      activated: (config) => this.#activated(config),
      refused: (faults) => void this.reloadRefused(faults),
    })
  }

  /** The data planes listen from now on. */
  listens(addresses: DataPlaneAddresses): void {
    this.#addresses = addresses
  }

  /**
   * The addresses of the listeners; with the actual ports if the configuration has 0. `front` is the first of
   * `fronts`.
   */
  get addresses(): GatewayAddresses {
    const { ops, active } = this.#parts
    const addresses = this.#addresses
    const fronts = (addresses?.fronts ?? []).map((address, at) => ({
      ...address,
      scheme: active.config.listen[at]?.tls == null ? ('http' as const) : ('https' as const),
    }))
    const [front] = fronts
    if (addresses === null || front === undefined) throw new Error('the gateway does not listen yet')
    return { ...addresses, ops, front, fronts }
  }

  /** The number of processes that serve requests: 0 if every worker has ended. */
  get workers(): number {
    return this.#parts.dataPlanes.workers.running
  }

  /**
   * The metrics of the gateway and its data planes, in the Prometheus text format.
   *
   * @param own the registry of the gateway
   */
  metrics(own: Registry): Promise<string> {
    return this.#parts.dataPlanes.metrics(own)
  }

  /** Resolves when another gateway has taken over the store: this one must be closed. */
  get superseded(): Promise<Error> {
    return this.#parts.node.superseded
  }

  /**
   * Activates a configuration and its tables together: each request sees either the old ones or the new.
   * Rejects, without any change, when the tables are faulty or a changed setting needs a restart. What
   * changes by meaning is logged and counted later.
   */
  async reload(config: Config, withTables?: WithTables): Promise<Config> {
    const { active, dataPlanes, tables } = this.#parts
    const fixed = changedForRestart(active.config, config)
    if (fixed.length > 0) throw new Error(`a change of ${fixed.join(', ')} requires a restart`)
    if (tables !== null && withTables !== undefined) return tables.reload(withTables)
    const activate = await dataPlanes.prepare(config)
    await activate()
    this.#activated(config)
    return config
  }

  #activated(config: Config): void {
    const { active, node, reloads } = this.#parts
    const before = active.config
    active.replace(config)
    node.configured()
    reloads.begin(before, config)
  }

  /**
   * Counts a reload.
   *
   * @returns the version of the active configuration, which `/readyz` shows
   */
  reloaded(): number {
    this.#parts.active.reloaded()
    this.#parts.node.show()
    return this.#parts.active.version
  }

  /**
   * Counts a reload that changed nothing.
   *
   * @param faults lines, one at least
   * @returns the version of the active configuration
   */
  reloadRefused(faults: readonly string[]): number {
    this.#parts.active.refused(faults)
    this.#parts.node.show()
    return this.#parts.active.version
  }

  /** The answer of `/readyz`. */
  get readiness() {
    const { active, node, dataPlanes } = this.#parts
    const { parts, instance } = node
    const { running, size } = dataPlanes.workers
    const draining = this.#closing !== null
    return {
      ready: parts.store === 'ok' && running > 0 && !draining,
      parts: {
        ...parts,
        ...(size > 1 ? { workers: running < size ? `${running} of ${size}` : 'ok' } : {}),
        draining,
        seq: instance.follower.position?.seq ?? 0,
        config: active.shown,
      },
    }
  }

  /**
   * `/readyz` reports draining at once. After `delay` ms the listener closes, and requests in flight have
   * `drain` ms. Then everything is closed and on disk. Further calls return the same promise.
   */
  close(drain: number, delay = 0): Promise<void> {
    this.#closing ??= this.#close(drain, delay)
    return this.#closing
  }

  async #close(drain: number, delay: number): Promise<void> {
    this.#parts.reloads.cancel()
    // The global timer, which tests hold.
    if (delay > 0) await new Promise<void>((resolve) => setTimeout(resolve, delay))
    await this.#parts.close(drain)
  }
}

/** Changed settings that can't be applied at run time: sockets, files and processes depend on them. */
function changedForRestart(before: Config, after: Config): string[] {
  const keys = ['ops', 'workers', 'store', 'redis', 'tables'] as const
  const changed: string[] = keys.filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  if (JSON.stringify(before.decision?.listen) !== JSON.stringify(after.decision?.listen))
    changed.push('decision')
  return socketsOf(before) === socketsOf(after) ? changed : ['listen', ...changed]
}

/** What their sockets are for. Certificates and the other settings of TLS apply to new connections. */
function socketsOf({ listen }: Config): string {
  return JSON.stringify(listen.map(({ host, port, tls }) => [host, port, tls !== null]))
}
