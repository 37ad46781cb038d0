/**
 * The activity of all workers of an instance. The primary gathers it: a worker asks the primary, which asks
 * every worker.
 *
 * A worker reports its counts and begins again at 0. The primary adds them up, so that the counts of a worker
 * that ends are not lost. The newest decisions stay in the worker that made them, and are lost with it.
 */

import type {
  Activity,
  DecisionBatch,
  DecisionFilter,
  DecisionQuery,
  DecisionWatch,
  RecentDecision,
  RouteUses,
  TakeBatch,
} from '../../model/activity.ts'
import { DecisionQueue } from '../../telemetry/decision-queue.ts'
import type { ProcessActivity } from '../../telemetry/process-activity.ts'
import { type ReportedUses, RouteCounts } from '../../telemetry/route-counts.ts'
import { type Channel, within } from './channel.ts'

/** Milliseconds between reports of counts: those of a worker that crashes are lost. */
const REPORT_EVERY = 10_000

interface Relayed {
  readonly tenant: string
  readonly batch: DecisionBatch
}

/** The activity as a worker reads it. */
export class WorkerActivity implements Activity {
  readonly #own: ProcessActivity
  readonly #channel: Channel
  /** The queues of readers at this worker, by tenant. */
  readonly #queues = new Map<string, Set<DecisionQueue>>()
  /** The tenants whose decisions some worker reads. */
  readonly #relays = new Map<string, DecisionWatch>()

  constructor(own: ProcessActivity, channel: Channel) {
    this.#own = own
    this.#channel = channel
    channel.serve('own-route-uses', () => own.counts.take())
    channel.serve('own-decisions', (query) => own.recent.list(query as DecisionQuery))
    channel.serve('watched', (tenants) => this.#relay(tenants as readonly string[]))
    channel.serve('decided', (relayed) => this.#deliver(relayed as Relayed))
  }

  async routeUses(tenant: string): Promise<RouteUses> {
    return (await this.#channel.ask('route-uses', tenant)) as RouteUses
  }

  async decisions(query: DecisionQuery): Promise<readonly RecentDecision[]> {
    return (await this.#channel.ask('decisions', query)) as readonly RecentDecision[]
  }

  async watch(filter: DecisionFilter, take: TakeBatch): Promise<DecisionWatch> {
    const { tenant } = filter
    const queue = new DecisionQueue(filter, take)
    const queues = this.#queues.get(tenant) ?? new Set()
    this.#queues.set(tenant, queues.add(queue))
    const close = () => {
      queue.close()
      queues.delete(queue)
      if (queues.size > 0 || this.#queues.get(tenant) !== queues) return
      this.#queues.delete(tenant)
      this.#channel.notify('watch', [...this.#queues.keys()])
    }
    try {
      await this.#channel.ask('watch', [...this.#queues.keys()])
    } catch (cause) {
      close()
      throw cause
    }
    return { resume: () => queue.resume(), close }
  }

  #relay(tenants: readonly string[]): void {
    for (const [tenant, watch] of this.#relays)
      if (!tenants.includes(tenant)) {
        watch.close()
        this.#relays.delete(tenant)
      }
    for (const tenant of tenants)
      if (!this.#relays.has(tenant)) this.#relays.set(tenant, this.#relayOf(tenant))
  }

  #relayOf(tenant: string): DecisionWatch {
    return this.#own.watchOwn({ tenant, space: null, code: null }, (batch) => {
      this.#channel.notify('decided', { tenant, batch } satisfies Relayed)
      return true
    })
  }

  #deliver({ tenant, batch: { decisions, lost } }: Relayed): void {
    for (const queue of this.#queues.get(tenant) ?? []) {
      for (const decision of decisions) queue.offer(decision)
      queue.lose(lost)
    }
  }
}

interface ActiveWorker {
  readonly id: number
  readonly channel: Channel
}

/** The activity as the primary gathers it. */
export class GatheredActivity {
  readonly #workers: () => readonly ActiveWorker[]
  readonly #patience: number
  readonly #counts = new RouteCounts()
  /** Worker → the tenants whose decisions it reads. */
  readonly #watching = new Map<number, readonly string[]>()
  readonly #timer: NodeJS.Timeout

  /**
   * @param workers those that serve requests
   * @param patience ms for a worker to answer: a frozen one is left out
   */
  constructor(workers: () => readonly ActiveWorker[], patience: number) {
    this.#workers = workers
    this.#patience = patience
    this.#timer = setInterval(() => void this.#gatherCounts(), REPORT_EVERY).unref()
  }

  /** Before the worker's first message. */
  forked({ id, channel }: ActiveWorker): void {
    channel.serve('route-uses', async (tenant) => {
      await this.#gatherCounts()
      return this.#counts.of(String(tenant))
    })
    channel.serve('decisions', (query) => this.#gatherDecisions(query as DecisionQuery))
    channel.serve('watch', (tenants) => {
      this.#watching.set(id, tenants as readonly string[])
      return this.#tellWatched()
    })
    channel.serve('decided', (relayed) => this.#relay(relayed as Relayed))
  }

  /** The worker serves requests from now on. */
  ready({ channel }: ActiveWorker): void {
    channel.notify('watched', this.#watched())
  }

  ended(id: number): void {
    if (this.#watching.delete(id)) void this.#tellWatched()
  }

  /** Applies a configuration. */
  retain(tenants: { has(id: string): boolean }, routes: ReadonlySet<string>): void {
    this.#counts.retain(tenants, routes)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #gatherCounts(): Promise<void> {
    await this.#ask('own-route-uses', undefined, (reported) => this.#counts.add(reported as ReportedUses))
  }

  async #gatherDecisions(query: DecisionQuery): Promise<readonly RecentDecision[]> {
    const decisions: RecentDecision[] = []
    await this.#ask('own-decisions', query, (of) => decisions.push(...(of as readonly RecentDecision[])))
    return decisions.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, query.limit)
  }

  #watched(): string[] {
    return [...new Set([...this.#watching.values()].flat())]
  }

  async #tellWatched(): Promise<void> {
    await this.#ask('watched', this.#watched(), () => {})
  }

  #relay(relayed: Relayed): void {
    for (const { id, channel } of this.#workers())
      if (this.#watching.get(id)?.includes(relayed.tenant) === true) channel.notify('decided', relayed)
  }

  /** Calls all workers. A late answer counts too, but is not waited for. */
  async #ask(method: string, argument: unknown, take: (answer: unknown) => unknown): Promise<void> {
    const answers = this.#workers().map(({ channel }) => channel.call(method, argument).then(take, () => {}))
    await within(this.#patience, Promise.all(answers))
  }
}
