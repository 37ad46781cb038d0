/**
 * Data planes in workers: a pool of processes that share one port and activate each configuration together.
 */

import {
  type HealthState,
  type KeyUse,
  type PushTables,
  type TableFiles,
  type TablesService,
} from '../../seats-admin/index.ts'
import { systemClock } from '../coherence/clock.ts'
import { History } from '../coherence/history.ts'
import { Lease } from '../coherence/lease.ts'
import { RemoteDecider } from '../coherence/worker-link.ts'
import type { Address, Config, SettingSource } from '../config/config.ts'
import { pack } from '../config/worker-copy.ts'
import type { DataPlaneAddresses } from './data-plane.ts'
import { Bank } from '../decision/limits/bank.ts'
import { ignore } from '../lib/ignore.ts'
import { createServer } from '../lib/node-http.ts'
import type { LoanRequest } from '../model/rate-limit.ts'
import { entryId } from '../decision/router/entries.ts'
import type { DataPlanes } from './data-planes.ts'
import type { Activation, Composition } from './extensions.ts'
import type { FleetNode } from './fleet-node.ts'
import { serveEphemeral } from '../oidc/sign-in/completed-sign-ins.ts'
import { kernelShares, listen } from '../http/server/listen.ts'
import type { Log } from '../telemetry/logger.ts'
import { aggregated, type Registry, type Snapshot } from '../telemetry/metric-registry.ts'
import { explainListening, listenerSource } from './surroundings/listener-fault.ts'
import { type Channel, within } from './workers/channel.ts'
import type { Preparation } from './workers/run-worker.ts'
import { GatheredActivity } from './workers/worker-activity.ts'
import { type PoolWorker, Pool } from './workers/worker-pool.ts'

/** Milliseconds for a worker to return its metrics, or the uses of API keys. */
const ANSWER_WAIT = 1000
/** Milliseconds after the drain for a worker to exit by itself. */
const LAST_WAIT = 5000

export class WorkerDataPlanes implements DataPlanes {
  readonly #pool: Pool
  readonly #log: Log
  readonly #merged = new MergedMetrics()
  readonly #deciders = new Map<number, RemoteDecider>()
  readonly #node: FleetNode
  /** The buckets of rate limits without Redis. */
  readonly #bank: Bank
  readonly #activity: GatheredActivity
  readonly #builtInPaths: Composition['extensions']['builtInPaths']
  #config: Config
  /** The number of the configuration; `#versions` has the number that each worker of `#joined` runs. */
  #version = 1
  readonly #versions = new Map<number, number>()
  #preparations = 0
  /** The workers that decide requests, or are about to: each reload is for all of them. */
  readonly #joined = new Map<number, PoolWorker>()
  /** Empty before the first worker listens, and then those of the first one. */
  #addresses: DataPlaneAddresses = { fronts: [], decision: null }
  /** The uses of workers that have responded, or ended in order. */
  #keyUses: KeyUse[] = []

  /** Workers start with {@link listen}. */
  constructor(config: Config, node: FleetNode, log: Log, { extensions, worker, patience }: Composition) {
    // The state that workers begin with. The primary decides no request. It joins as a decider, with a
    // lease, because only deciders receive all changes.
    const history = new History()
    node.instance.join(new Lease(node.instance, [history], systemClock))
    this.#builtInPaths = extensions.builtInPaths
    this.#config = config
    this.#node = node
    this.#log = log
    this.#bank = new Bank(systemClock.now, () => node.size)
    node.onSize(() => {
      for (const { channel } of this.#pool.workers) channel.notify('instances', node.size)
    })
    this.#activity = new GatheredActivity(() => this.#pool.workers, patience.activity)
    this.#pool = new Pool(
      { size: config.workers, worker, patience },
      {
        forked: (worker) => {
          const { id, channel } = worker
          this.#activity.forked(worker)
          this.#deciders.set(id, new RemoteDecider(channel, node.instance, history))
          serveEphemeral(channel, node.redis.ephemeral)
          channel.serve('store', (state) => node.updateWorkerHealth(id, state as HealthState))
          channel.serve('fleet', (tenant) => node.view(tenant as string))
          channel.serve('fleet-secrets', (tenant) => node.secrets(tenant as string))
          if (node.tablesService !== null) serveTables(channel, node.tablesService)
          channel.serve('lend', (request) => this.#bank.lend(request as LoanRequest))
          channel.serve('config', () => ({
            version: this.#version,
            config: pack(this.#forWorkers()),
            owner: node.owner,
            instance: node.identity,
            instances: node.size,
          }))
          channel.serve('joins', (version) => this.#join(worker, version as number))
        },
        ready: (worker, response) => this.#ready(worker, response as Started),
        failed: ({ pid }, cause) =>
          log.logger.error({ pid, cause: cause.message }, 'a worker could not start: it is replaced'),
        ended: (worker, how) => this.#ended(worker, how),
        output: (lines) => log.relay(lines),
      },
    )
  }

  async listen(): Promise<DataPlaneAddresses> {
    if (kernelShares) await refuseTaken(this.#config)
    await this.#pool.start()
    return this.#addresses
  }

  /** A free port that was chosen once stays, even when all workers have ended at once. */
  #forWorkers(): Config {
    const listen = this.#config.listen.map((listener, at) => ({
      ...listener,
      port: this.#addresses.fronts[at]?.port ?? listener.port,
    }))
    const { decision } = this.#config
    const port = this.#addresses.decision?.port
    if (decision === null || port === undefined) return { ...this.#config, listen }
    return { ...this.#config, listen, decision: { ...decision, listen: { ...decision.listen, port } } }
  }

  get workers() {
    return { running: this.#pool.workers.length, size: this.#pool.size }
  }

  /** All workers compile the configuration. Those that have joined by the activation are updated after that. */
  async prepare(config: Config): Promise<Activation> {
    const workers = [...this.#joined.values()]
    const preparation = this.#preparation(config)
    const prepared = await Promise.allSettled(
      workers.map(({ channel }) => channel.call('prepare', preparation)),
    )
    // The failure of a worker that has ended says nothing about the configuration.
    const present = new Set<PoolWorker | undefined>(this.#joined.values())
    const refused = prepared.find(({ status }, at) => status === 'rejected' && present.has(workers[at]))
    if (refused?.status === 'rejected') throw refused.reason
    return () => this.#activate(config, preparation.id, workers)
  }

  #preparation(config: Config): Preparation {
    return { id: ++this.#preparations, config: pack(config) }
  }

  async #activate(config: Config, preparation: number, workers: readonly PoolWorker[]): Promise<void> {
    this.#config = config
    this.#version++
    const version = this.#version
    this.#activity.retain(config.tenants, this.#routeIds(config))
    await Promise.allSettled(workers.map((worker) => this.#commit(worker, preparation, version)))
    await Promise.all([...this.#joined.values()].map((worker) => this.#update(worker)))
  }

  /** @returns the configuration to activate first; null: the worker may listen */
  #join(worker: PoolWorker, version: number) {
    if (version !== this.#version) return { version: this.#version, config: pack(this.#forWorkers()) }
    this.#versions.set(worker.id, version)
    this.#joined.set(worker.id, worker)
    return null
  }

  /** The ids of the routes of the compiled table. */
  #routeIds({ routes, api }: Config): ReadonlySet<string> {
    return new Set([...routes.map(entryId), ...this.#builtInPaths(api).map(({ id }) => id)])
  }

  #ready(worker: PoolWorker, { addresses }: Started): void {
    if (this.#addresses.fronts.length === 0) this.#addresses = addresses
    this.#activity.ready(worker)
  }

  /** A worker that can't be updated would decide by an old configuration, so it is ended. Never rejects. */
  async #update(worker: PoolWorker): Promise<void> {
    const version = this.#version
    if (this.#versions.get(worker.id) === version) return
    try {
      const preparation = this.#preparation(this.#config)
      await worker.channel.call('prepare', preparation)
      await this.#commit(worker, preparation.id, version)
    } catch {
      worker.kill()
      // Rejects when the process has ended.
      while (this.#joined.has(worker.id)) await worker.channel.call('alive').catch(ignore)
    }
  }

  async #commit({ id, channel }: PoolWorker, preparation: number, version: number): Promise<void> {
    await channel.call('commit', preparation)
    this.#versions.set(id, version)
  }

  async metrics(own: Registry): Promise<string> {
    await Promise.all(this.#pool.workers.map((worker) => this.#ask(worker)))
    return this.#merged.text(await own.getMetricsAsJSON())
  }

  /** A worker that does not respond keeps its latest metrics. */
  async #ask({ id, channel }: PoolWorker): Promise<void> {
    const snapshot = await within(ANSWER_WAIT, channel.call('metrics')).catch(() => undefined)
    if (snapshot !== undefined) this.#merged.update(id, snapshot as Snapshot)
  }

  /** A worker that responds late is part of the next call. */
  async takeKeyUses(): Promise<readonly KeyUse[]> {
    const responses = this.#pool.workers.map(({ channel }) => this.#addKeyUses(channel.call('key-uses')))
    await within(ANSWER_WAIT, Promise.all(responses))
    const taken = this.#keyUses
    this.#keyUses = []
    return taken
  }

  async #addKeyUses(response: Promise<unknown>): Promise<void> {
    const uses = (await response.catch(() => [])) as readonly KeyUse[]
    this.#keyUses = this.#keyUses.concat(uses)
  }

  close(drain: number): Promise<void> {
    this.#activity.close()
    return this.#pool.close(({ channel }) =>
      within(drain + LAST_WAIT, this.#addKeyUses(channel.call('end', drain))),
    )
  }

  #ended({ id, pid }: PoolWorker, how: string): void {
    this.#node.updateWorkerHealth(id, null)
    this.#activity.ended(id)
    this.#deciders.get(id)?.ended()
    this.#deciders.delete(id)
    this.#versions.delete(id)
    this.#joined.delete(id)
    void this.#merged.removeWorker(id)
    if (!this.#pool.closing) this.#log.logger.error({ pid, how }, 'a worker ended: it is replaced')
  }
}

function serveTables(channel: Channel, { push, build }: TablesService<Config>): void {
  channel.serve('push-tables', (call) => push(...(call as Parameters<PushTables>)))
  channel.serve('build-tables', async (files) => pack(await build(files as TableFiles)))
}

/**
 * Sockets of the same user can share a port (SO_REUSEPORT), so another gateway on it would go unnoticed, and
 * each would get half of the connections. A socket that does not share fails if another one listens.
 */
async function refuseTaken(config: Config): Promise<void> {
  const { listen: listeners, decision, sources } = config
  for (const [at, listener] of listeners.entries()) await probe(listener, listenerSource(config, at))
  if (decision !== null) await probe(decision.listen, sources.decision)
}

async function probe(address: Address, source: SettingSource): Promise<void> {
  if (address.port === 0) return
  const server = createServer()
  await explainListening(address, source, () => listen(server, address))
  await new Promise((resolve) => server.close(resolve))
}

/** A worker's response once it has started. */
interface Started {
  readonly addresses: DataPlaneAddresses
}

/** The merged metrics of all workers. Totals never decrease when a worker ends. */
class MergedMetrics {
  readonly #latest = new Map<number, Snapshot>()
  /** Counters and histograms of ended workers, from their latest snapshots. */
  #ended: Snapshot | null = null
  #adding: Promise<void> = Promise.resolve()

  update(member: number, snapshot: Snapshot): void {
    this.#latest.set(member, snapshot)
  }

  /** Sequential: each call adds to the result of the one before. */
  removeWorker(member: number): Promise<void> {
    this.#adding = this.#adding.then(() => this.#add(member))
    return this.#adding
  }

  async #add(member: number): Promise<void> {
    const last = this.#latest.get(member)
    if (last === undefined) return
    const lasting = last.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')
    const sum = this.#ended === null ? [lasting] : [this.#ended, lasting]
    this.#ended = await aggregated(sum).getMetricsAsJSON()
    this.#latest.delete(member)
  }

  /**
   * The metrics in the Prometheus text format.
   *
   * @param own the primary's metrics
   */
  async text(own: Snapshot): Promise<string> {
    await this.#adding
    const all = [own, ...this.#latest.values()]
    return aggregated(this.#ended === null ? all : [...all, this.#ended]).metrics()
  }
}
