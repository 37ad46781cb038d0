/**
 * Route tables in the store of a simulated gateway: the product's preparation, activation and push, over the processes
 * of the gateway, which take a configuration as in `src/runtime/data-planes.ts` and `worker-data-planes.ts`.
 */

import {
  type ActiveTables,
  type TableFiles,
  tablesDigest,
} from '../../../seats-admin/model/tables-version.ts'
import { isRefusal } from '../../../seats-admin/model/refusal.ts'
import type { Writer } from '../../../seats-admin/store/writer.ts'
import type { Committed } from '../../../seats-admin/model/change.ts'
import type { Instance } from '../../../src/coherence/instance.ts'
import type { Config } from '../../../src/config/config.ts'
import { ConfigError } from '../../../src/config/faults.ts'
import type { Activation, WithTables } from '../../../src/runtime/extensions.ts'
import type { InstanceTables, TablesParts } from '../../../src/runtime/instance-tables.ts'
import type { TablePush } from '../../../src/runtime/table-push.ts'
import type { Channel } from '../../../src/runtime/workers/channel.ts'
import type { Decider } from './decider.ts'
import type { Process } from './process.ts'
import { PERMISSIONS, TABLES_RECORD, TENANT } from './records.ts'
import { StoreClient } from './store-client.ts'
import type { World } from './world.ts'

/** What the tables require: one of the permissions, or a route that only some gateways can build. */
export const CONTENTS = [0, 1, 2] as const
export type Content = (typeof CONTENTS)[number]

const FILE = 'main.yaml'

/** @param tag what a decision tells of the tables: no other files have it */
export function filesOf(content: Content, tag: number): TableFiles {
  return { [FILE]: `${content} ${tag}` }
}

export function tablesOf(version: number, files: TableFiles): ActiveTables {
  return { version, digest: tablesDigest(files), files }
}

export function readFiles(files: TableFiles): { readonly content: Content; readonly tag: number } {
  const [content = 0, tag = 0] = (files[FILE] ?? '').split(' ').map(Number)
  return { content: content as Content, tag }
}

/** The permission that the tables require. */
export function permissionIn(files: TableFiles): string {
  return PERMISSIONS[readFiles(files).content % PERMISSIONS.length] ?? ''
}

/** A configuration, as far as the simulation has one. */
export interface SimulatedConfig {
  readonly tableSet: Pick<ActiveTables, 'version' | 'digest'>
  readonly files: TableFiles
  /** The hash of the tables. */
  readonly hash: string
  readonly routes: readonly []
}

function withTables(refuses: boolean): WithTables {
  return async (tables) => build(tables, refuses) as unknown as Config
}

/** @throws ConfigError if the main file lacks what the tables need */
function build({ version, digest, files }: ActiveTables, refuses: boolean): SimulatedConfig {
  const { content, tag } = readFiles(files)
  if (refuses && content === 2) throw new ConfigError([{ place: PLACE, message: 'no such upstream' }])
  return { tableSet: { version, digest }, files, hash: `tables#${tag}`, routes: [] }
}

type PushParts = ConstructorParameters<typeof TablePush>[0]

const PLACE = { file: FILE, line: 1, column: 1 }

const LOG = { logger: { error: () => {} } } as unknown as TablesParts['log']

/** The most milliseconds that a process compiles tables. */
const COMPILES = 40

/** The processes of a gateway that take configurations. */
interface DataPlanes {
  prepare(config: SimulatedConfig): Promise<Activation>
}

function compile({ context }: World, process: Process): Promise<void> {
  const { timeline, random } = context
  return new Promise((resolve) => void timeline.after(random.between(0, COMPILES), process, resolve))
}

/** One process. */
export class OwnDataPlane implements DataPlanes {
  readonly #world: World
  readonly #decider: Decider

  constructor(world: World, decider: Decider) {
    this.#world = world
    this.#decider = decider
  }

  async prepare(config: SimulatedConfig): Promise<Activation> {
    await compile(this.#world, this.#decider.process)
    return async () => this.#decider.activate(config)
  }
}

/** The most configurations that a worker keeps ready, as in the product. */
const MAX_PREPARED = 2

interface Preparation {
  readonly id: number
  readonly config: SimulatedConfig
}

/** Workers, in the primary: as `src/runtime/worker-data-planes.ts`. */
export class WorkerDataPlanes implements DataPlanes {
  config: SimulatedConfig
  version = 1
  #preparations = 0
  readonly #versions = new Map<Channel, number>()

  constructor(config: SimulatedConfig) {
    this.config = config
  }

  forked(channel: Channel): void {
    channel.serve('config', () => ({ version: this.version, config: this.config }))
    channel.serve('joins', (version) => {
      if (version !== this.version) return { version: this.version, config: this.config }
      this.#versions.set(channel, this.version)
      return null
    })
  }

  ended(channel: Channel): void {
    this.#versions.delete(channel)
  }

  async prepare(config: SimulatedConfig): Promise<Activation> {
    const channels = [...this.#versions.keys()]
    const preparation = this.#preparation(config)
    const prepared = await Promise.allSettled(channels.map((channel) => channel.call('prepare', preparation)))
    const refused = prepared.find(
      ({ status }, at) => status === 'rejected' && this.#versions.has(channels[at] as Channel),
    )
    if (refused?.status === 'rejected') throw refused.reason
    return () => this.#activate(config, preparation.id, channels)
  }

  #preparation(config: SimulatedConfig): Preparation {
    return { id: ++this.#preparations, config }
  }

  async #activate(config: SimulatedConfig, id: number, channels: readonly Channel[]): Promise<void> {
    this.config = config
    const version = ++this.version
    await Promise.allSettled(channels.map((channel) => this.#commit(channel, id, version)))
    await Promise.all([...this.#versions.keys()].map((channel) => this.#update(channel)))
  }

  async #update(channel: Channel): Promise<void> {
    const { version } = this
    if (this.#versions.get(channel) === version) return
    try {
      const preparation = this.#preparation(this.config)
      await channel.call('prepare', preparation)
      await this.#commit(channel, preparation.id, version)
    } catch {
      // It has ended.
    }
  }

  async #commit(channel: Channel, id: number, version: number): Promise<void> {
    await channel.call('commit', id)
    if (this.#versions.has(channel)) this.#versions.set(channel, version)
  }
}

/** A worker's start: the configuration that it begins with. */
interface WorkerStart {
  readonly version: number
  readonly config: SimulatedConfig
}

/**
 * Begins a worker, as `src/runtime/workers/run-worker.ts`: it joins those that decide once it has the newest
 * configuration.
 */
export async function beginWorker(
  world: World,
  channel: Channel,
  begin: (config: SimulatedConfig) => Promise<Decider>,
): Promise<Decider> {
  const { version, config } = (await channel.call('config')) as WorkerStart
  const decider = await begin(config)
  serveConfigurations(world, channel, decider)
  for (let current = version; ;) {
    const newer = (await channel.call('joins', current)) as WorkerStart | null
    if (newer === null) return decider
    await compile(world, decider.process)
    decider.activate(newer.config)
    current = newer.version
  }
}

function serveConfigurations(world: World, channel: Channel, decider: Decider): void {
  const prepared = new Map<number, SimulatedConfig>()
  channel.serve('prepare', async (data) => {
    const { id, config } = data as Preparation
    await compile(world, decider.process)
    prepared.set(id, config)
    const [oldest] = prepared.keys()
    if (prepared.size > MAX_PREPARED && oldest !== undefined) prepared.delete(oldest)
  })
  channel.serve('commit', (id) => {
    const config = prepared.get(id as number)
    if (config === undefined) throw new Error('the configuration is not prepared any more')
    for (const each of prepared.keys()) if (each <= (id as number)) prepared.delete(each)
    decider.activate(config)
  })
}

interface GatewayOptions {
  readonly name: string
  /** The primary. */
  readonly process: Process
  /** Whether its main file lacks what the last of the contents needs. */
  readonly refuses: boolean
}

/** The tables of one gateway, at its primary. */
export class GatewayTables {
  readonly atInstance: InstanceTables
  /** The configuration with which it starts. */
  readonly config: SimulatedConfig
  readonly #world: World
  readonly #options: GatewayOptions
  readonly #store: StoreClient

  /**
   * It begins with the tables that are active.
   *
   * @throws ConfigError if it cannot build them
   */
  constructor(world: World, options: GatewayOptions) {
    const { process, refuses } = options
    const active = world.database.tables
    this.#world = world
    this.#options = options
    this.#store = new StoreClient(world.database, process)
    this.config = build(active, refuses)
    const { clock } = process
    const parts = { store: this.#store, tenant: TENANT, cache: { write: () => {} }, log: LOG, clock }
    this.atInstance = world.parts.instanceTables(parts, active, withTables(refuses))
  }

  get refuses(): boolean {
    return this.#options.refuses
  }

  /** Called before the feed is followed. */
  attach(planes: DataPlanes): void {
    this.atInstance.attach({
      id: this.#options.name,
      prepare: (config) => planes.prepare(config as unknown as SimulatedConfig),
      activated: () => {},
      refused: () => {},
    })
  }

  /** The main file has changed. */
  reload(): void {
    this.atInstance.reload(withTables(this.refuses)).then(
      () => this.#world.figures.reloads++,
      () => {},
    )
  }

  /** @param instance that of this gateway */
  async push(instance: Instance, files: TableFiles): Promise<void> {
    const { context, figures, database, parts } = this.#world
    const { name, process } = this.#options
    const own = this.#store
    let committed: Committed | null = null
    const store = {
      registry: own,
      proposeTables: async (...asked: Parameters<StoreClient['proposeTables']>) => {
        const proposed = await own.proposeTables(...asked)
        // The same files: they have been active since then.
        if (proposed.value.id === null)
          committed = { ...proposed, seq: database.versionAt(TABLES_RECORD, proposed.seq).seq }
        return proposed
      },
      activateTables: async (...asked: Parameters<StoreClient['activateTables']>) => {
        const activated = await own.activateTables(...asked)
        if (!isRefusal(activated)) committed = activated
        return activated
      },
      candidateAnswers: own.candidateAnswers.bind(own),
      withdrawTables: own.withdrawTables.bind(own),
    } as unknown as PushParts['store']
    const push = parts.tablePush({ store, tables: this.atInstance, instance, clock: process.clock })
    const pushed = await push.push({} as Writer, files).catch(() => null)
    if (pushed === null) return
    if (!('version' in pushed)) {
      context.trace?.(`${name} has refused a push: ${JSON.stringify(pushed)}`)
      figures.refusedPushes++
    } else if (committed !== null) this.#world.pushed(name, committed, pushed)
  }
}
