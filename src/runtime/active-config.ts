/**
 * The configuration that a gateway decides by, with the version that operators see and the result of the
 * latest reload. `cli/start.ts` reloads, on SIGHUP and when a file changes.
 */

import type { RefusedReload, TenantSecrets } from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import { fingerprintsOf } from '../config/secret-fingerprint.ts'
import type { FleetMetrics } from '../telemetry/fleet-metrics.ts'

/** The most characters of a fault that others are shown. */
const MOST_OF_FAULT = 1000

export class ActiveConfig {
  readonly #metrics: FleetMetrics
  #config: Config
  #secrets: TenantSecrets
  #version = 1
  #loadedAt = new Date()
  /** The latest reload if it was refused, or else null. */
  #refused: RefusedReload | null = null

  constructor(config: Config, metrics: FleetMetrics) {
    this.#config = config
    this.#secrets = fingerprintsOf(config)
    this.#metrics = metrics
  }

  get config(): Config {
    return this.#config
  }

  /** The fingerprints of its secrets. */
  get secrets(): TenantSecrets {
    return this.#secrets
  }

  /** The latest reload if it was refused, or else null. */
  get refusedReload(): RefusedReload | null {
    return this.#refused
  }

  /** Increases with each reload. */
  get version(): number {
    return this.#version
  }

  /** False from a refused reload until one succeeds. */
  get filesAreValid(): boolean {
    return this.#refused === null
  }

  /** Replaces the configuration of the start, before anything is decided. */
  begin(config: Config): void {
    this.#config = config
    this.#secrets = fingerprintsOf(config)
  }

  replace(config: Config): void {
    this.begin(config)
    this.#version++
    this.#loadedAt = new Date()
  }

  /** Counts a reload. */
  reloaded(): void {
    this.#refused = null
    this.#metrics.reloaded('ok')
  }

  /**
   * Counts a reload that changed nothing.
   *
   * @param faults lines, one at least
   */
  refused([first = '', ...more]: readonly string[]): void {
    this.#refused = {
      at: new Date().toISOString(),
      faults: 1 + more.length,
      first: first.slice(0, MOST_OF_FAULT),
    }
    this.#metrics.reloaded('faulty')
  }

  /** The `config` of `/readyz`. */
  get shown() {
    const { hash, routes, shadow, tables, tableSet } = this.#config
    return {
      version: this.#version,
      loaded_at: this.#loadedAt.toISOString(),
      hash,
      routes: routes.length,
      ...(tables.from === 'files' ? {} : { tables: tableSet.version }),
      ...(shadow === null ? {} : { shadow: { hash: shadow.hash, routes: shadow.routes.length } }),
      ...(this.#refused === null ? {} : { refused: this.#refused }),
    }
  }
}
