/**
 * A simulated gateway: one process, or a primary and its workers, composed as in `src/runtime/fleet-node.ts`,
 * `src/runtime/data-planes.ts` and `src/runtime/workers/run-worker.ts`.
 */

import type { History } from '../../../src/coherence/history.ts'
import type { Coherence } from '../../../src/coherence/coherence.ts'
import type { Instance } from '../../../src/coherence/instance.ts'
import { RemoteInstance } from '../../../src/coherence/worker-link.ts'
import { Decider } from './decider.ts'
import { channelBetween } from './channel.ts'
import { Machine, Process } from './process.ts'
import { SimulatedBus } from './redis.ts'
import type { TableFiles } from '../../../seats-admin/model/tables-version.ts'
import { StoreClient } from './store-client.ts'
import {
  beginWorker,
  GatewayTables,
  OwnDataPlane,
  readFiles,
  type SimulatedConfig,
  WorkerDataPlanes,
} from './tables.ts'
import type { World } from './world.ts'

export class Gateway {
  readonly machine: Machine
  readonly primary: Process
  readonly #world: World
  readonly name: string
  readonly #instance: Instance
  readonly #deciders = new Set<Decider>()
  /** Null: they are in files. */
  readonly #tables: GatewayTables | null
  #forks = 0
  #isLeaving = false

  /** @param workers 0: a single process that decides */
  constructor(world: World, name: string, workers: number) {
    this.#world = world
    this.name = name
    this.machine = new Machine(world.context, name)
    this.primary = new Process(world.context, this.machine, name)
    this.#tables = this.#openTables()
    this.#instance = this.#newInstance(workers)
    if (this.primary.state === 'ended') return
    if (workers === 0) this.#beginAlone()
    else this.#beginWith(workers)
  }

  /** A gateway that cannot build the active tables does not start. */
  #openTables(): GatewayTables | null {
    const { database, schedule } = this.#world
    if (database.tables.version === 0) return null
    const refuses = schedule.refusing !== null && this.#world.gateways.length % 2 === schedule.refusing
    try {
      return new GatewayTables(this.#world, { name: this.name, process: this.primary, refuses })
    } catch {
      this.primary.end()
      return null
    }
  }

  /** Whether it cannot build these tables. */
  refuses(files: TableFiles): boolean {
    return this.#tables?.refuses === true && readFiles(files).content === 2
  }

  /** Activates other tables of its files, in one process; or builds those of the store again. */
  reload(decider: Decider): void {
    if (this.#tables === null) decider.reload()
    else if (decider.isOpen) this.#tables.reload()
  }

  push(files: TableFiles): void {
    void this.#tables?.push(this.#instance, files)
  }

  /** Deciders of running processes. */
  get deciders(): Decider[] {
    return [...this.#deciders]
  }

  /** Processes that can freeze or end. */
  get processes(): Process[] {
    const workers = this.deciders.map(({ process }) => process).filter((process) => process !== this.primary)
    return [this.primary, ...workers].filter(({ state }) => state !== 'ended')
  }

  /** Graceful shutdown: it stops accepting requests, ends those in flight and its workers, and then leaves the list. */
  leave(): void {
    if (this.#isLeaving || this.primary.state !== 'running') return
    this.#isLeaving = true
    for (const decider of this.#deciders) {
      decider.isOpen = false
      decider.lease.end()
      decider.streams.end()
      if (decider.process !== this.primary) decider.process.end()
    }
    void this.#instance.close().then(() => this.primary.end())
  }

  #newInstance(workers: number): Instance {
    const { context, parts, database, redis, schedule, figures } = this.#world
    const store = new StoreClient(database, this.primary)
    const instance = parts.instance({
      id: this.name,
      name: this.name,
      source: store,
      list: parts.list(store),
      bus: schedule.hasRedis ? new SimulatedBus(redis, this.primary) : null,
      clock: this.primary.clock,
      ...(this.#tables === null ? {} : { tables: this.#tables.atInstance }),
      listener: {
        feed: (state) => context.trace?.(`${this.name}: the feed is ${state}`),
        answered: ({ by }) => figures[by]++,
        acknowledged: () => {},
      },
    })
    return context.model?.instance(this.primary, instance, workers) ?? instance
  }

  #beginAlone(): void {
    const decider = this.#newDecider(this.primary, this.#instance, this.#tables?.config)
    this.#tables?.attach(new OwnDataPlane(this.#world, decider))
    this.#instance.start().then(
      () => this.#open(decider),
      () => this.primary.end(),
    )
  }

  /** The primary follows the feed, so that workers can start with its history; it decides nothing. */
  #beginWith(workers: number): void {
    const { parts, context } = this.#world
    const history = parts.history()
    const planes = this.#tables && new WorkerDataPlanes(this.#tables.config)
    if (planes !== null) this.#tables?.attach(planes)
    this.#instance.join(parts.lease(this.#instance, [history], this.primary.clock))
    this.#instance.start().then(
      () => {
        for (let count = 0; count < workers; count++) this.#fork(history, planes)
      },
      () => this.primary.end(),
    )
    // Without the primary the workers end, after a delay.
    this.primary.whenEnded(() => {
      for (const { process } of this.#deciders)
        context.timeline.after(context.random.between(0, 20), process, () => process.end())
    })
  }

  #fork(history: History, planes: WorkerDataPlanes | null): void {
    const { context, parts } = this.#world
    const process = new Process(context, this.machine, `${this.name}-${++this.#forks}`)
    const [ours, theirs] = channelBetween(this.primary, process)
    const remote = parts.remoteDecider(ours, this.#instance, history)
    context.model?.forks(remote, process)
    planes?.forked(ours)
    process.whenEnded(() => {
      context.timeline.after(context.random.between(0, 20), this.primary, () => {
        ours.end()
        remote.ended()
        planes?.ended(ours)
        if (!this.#isLeaving) context.timeline.after(10, this.primary, () => this.#fork(history, planes))
      })
    })
    context.timeline.after(context.random.between(1, 20), process, () => {
      const coherence = new RemoteInstance(theirs, process.clock, { id: this.name, name: this.name })
      const begun =
        planes === null
          ? this.#beginWorker(process, coherence)
          : beginWorker(this.#world, theirs, (config) => this.#beginWorker(process, coherence, config))
      begun.then(
        (decider) => this.#open(decider),
        () => process.end(),
      )
    })
  }

  async #beginWorker(process: Process, coherence: Coherence, config?: SimulatedConfig): Promise<Decider> {
    const decider = this.#newDecider(process, coherence, config)
    await decider.lease.renewed()
    return decider
  }

  #newDecider(process: Process, coherence: Coherence, config: SimulatedConfig | null = null): Decider {
    const decider = new Decider(this.#world, process, coherence, config)
    this.#deciders.add(decider)
    process.whenEnded(() => {
      this.#deciders.delete(decider)
      this.#world.context.model?.end(process)
    })
    return decider
  }

  #open(decider: Decider): void {
    if (this.#isLeaving) return
    decider.isOpen = true
    this.#world.opened(decider)
  }
}
