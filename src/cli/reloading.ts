/**
 * The files of a running gateway: reloads them on SIGHUP, when one of them changes, and before the gateway
 * decides without a lease. One reload runs at a time.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/faults.ts'
import { existingIn, SETTLE, signatureNow, watchConfig } from '../config/watch.ts'
import type { ConfigFiles, Reloadable, WithTables } from '../runtime/extensions.ts'
import type { ServiceManager } from '../runtime/service-manager.ts'
import type { Log } from '../telemetry/logger.ts'
import { messageOf } from './command.ts'

/** The most readings of files that change again and again before they are loaded. */
const READINGS = 10

/** A configuration, and what it is with tables of the store. */
export interface LoadedConfig {
  readonly config: Config
  readonly withTables: WithTables
}

/** A configuration whose tables are in files. */
export function withoutStored(config: Config): LoadedConfig {
  return { config, withTables: () => Promise.reject(new Error('the tables are in files')) }
}

interface ReloadingParts {
  readonly log: Log
  readonly load: () => Promise<LoadedConfig>
  readonly service: Pick<ServiceManager, 'reloading' | 'ready'>
  /** Called with each configuration that is active from now on. */
  readonly activated: (config: Config) => void
}

export class Reloading implements ConfigFiles {
  readonly withTables: WithTables
  readonly #parts: ReloadingParts
  /** The active configuration, but for the tables of the store. */
  #config: Config
  /** The absolute paths and globs of the latest files. */
  #watched: readonly string[]
  /** The signature of these files when they were read. */
  #seen: string
  #gateway: Reloadable | null = null
  #watch: { close(): void } | null = null
  /** Settles with the newest reload or check. */
  #last: Promise<void> = Promise.resolve()
  /** A check that has not begun; null: none. */
  #next: Promise<void> | null = null
  readonly #request = (): void => {
    this.#last = this.#last.then(() => this.#reload())
  }

  /** @param first the configuration that the gateway starts with */
  constructor({ config, withTables }: LoadedConfig, parts: ReloadingParts) {
    this.#config = config
    this.withTables = withTables
    this.#parts = parts
    this.#watched = config.files
    this.#seen = existingIn(config.signature)
  }

  get config(): Config {
    return this.#config
  }

  attach(gateway: Reloadable): void {
    this.#gateway = gateway
  }

  /** From now on, signals and changes of files cause reloads. */
  start(): void {
    process.on('SIGHUP', this.#request)
    this.#watch = watchConfig(
      () => this.#watched,
      () => void this.check(),
      this.#config.signature,
    )
  }

  check(): Promise<void> {
    if (this.#next !== null) return this.#next
    this.#next = this.#last.then(() => {
      this.#next = null
      return this.#reloadIfChanged()
    })
    this.#last = this.#next
    return this.#next
  }

  /** Resolves once the reload in progress has ended. */
  close(): Promise<void> {
    this.#watch?.close()
    process.off('SIGHUP', this.#request)
    return this.#last
  }

  async #reloadIfChanged(): Promise<void> {
    let signature = await signatureNow(this.#watched)
    for (let readings = 1; signature !== this.#seen && readings < READINGS; readings++) {
      // Another file of the same change may follow.
      await sleep(SETTLE)
      const before = signature
      signature = await signatureNow(this.#watched)
      if (signature === before) break
    }
    if (signature !== this.#seen) await this.#reload()
  }

  /** Never rejects. */
  async #reload(): Promise<void> {
    const { log, load, service } = this.#parts
    const { logger } = log
    const gateway = this.#gateway
    if (gateway === null) return
    // A service manager takes a gateway that has reloaded for one that has started.
    const isStarted = this.#watch !== null
    if (isStarted) service.reloading()
    try {
      const { config, withTables } = await load()
      this.#seen = existingIn(config.signature)
      this.#watched = config.files
      const next = await gateway.reload(config, withTables)
      const hashes = hashesOf(this.#config, next)
      this.#config = next
      const version = gateway.reloaded()
      logger.info({ version, ...hashes }, 'configuration reloaded')
      if (isStarted) service.ready(`running with configuration ${version}`)
      this.#parts.activated(next)
    } catch (error) {
      // The fault may be repaired in a file that only the faulty configuration names.
      if (error instanceof ConfigError && error.files.length > 0) {
        this.#watched = error.files
        this.#seen = existingIn(error.signature)
      }
      const faults = messageOf(error).split('\n')
      const version = gateway.reloadRefused(faults)
      logger.error({ version, faults }, 'reload refused: the previous configuration stays active')
      if (isStarted) service.ready(`running with configuration ${version}: a reload was refused`)
    }
  }
}

/** The hashes of the tables before and after a reload, and of the candidate tables. */
function hashesOf(before: Config, { hash, shadow }: Config) {
  const tables = { config_before: before.hash, config: hash }
  return shadow === null ? tables : { ...tables, shadow: shadow.hash }
}
