/**
 * One process's share of the front door: what decides and forwards, the listener it comes in by, and what it counts.
 * The gateway has one in its own process, or one in each worker.
 */

import type { AddressInfo } from 'node:net'
import type { Config } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import type { CompiledConfig, DecisionPoint } from './decision-point.ts'
import { Pipeline, type Running } from '../pipeline/pipeline.ts'
import { clientNetwork } from '../proxy/client-network.ts'
import { peerAddress, TrustedProxies } from '../proxy/forwarded.ts'
import { Upstream } from '../proxy/upstream.ts'
import { Reevaluation } from '../pipeline/reevaluation.ts'
import { openRequestListener } from '../http/server/listener.ts'
import type { RequestListener, ListenerSettings } from '../http/server/listener-options.ts'
import { AccessLog } from '../telemetry/access-log.ts'
import { type ConnectionWatch, watchConnections } from '../telemetry/connection-watch.ts'
import type { Log } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { type UpstreamWatch, watchUpstreams } from '../telemetry/upstream-watch.ts'

export class DataPlane {
  readonly metrics = new Metrics()
  readonly #decisionPoint: DecisionPoint
  readonly #pipeline: Pipeline
  readonly #reevaluation: Reevaluation
  readonly #watch: UpstreamWatch
  readonly #connectionWatch: ConnectionWatch
  #compiled: CompiledConfig
  #running: Running
  #requestListener: RequestListener | null = null

  /** Rejects with a ConfigError when the route tables are faulty. */
  static async open(decisionPoint: DecisionPoint, config: Config, log: Log): Promise<DataPlane> {
    return new DataPlane(decisionPoint, await decisionPoint.compile(config), log)
  }

  private constructor(decisionPoint: DecisionPoint, compiled: CompiledConfig, log: Log) {
    this.#decisionPoint = decisionPoint
    this.#compiled = compiled
    this.#watch = watchUpstreams(this.metrics, log, () =>
      [...this.#running.upstreams].map(([name, upstream]) => [name, upstream.targets()] as const),
    )
    this.#connectionWatch = watchConnections(
      this.metrics,
      log,
      () => this.#requestListener?.connections ?? {},
    )
    this.#running = running(compiled, this.#watch)
    this.#pipeline = new Pipeline(this.#running, new AccessLog(log.line), this.metrics)
    this.#reevaluation = new Reevaluation(decisionPoint.changes, this.#pipeline)
    this.#addGauges(log)
  }

  /** Rejects with Node's error when the address can't be had. @param shared with other workers */
  async listen(shared = false): Promise<AddressInfo> {
    const { config } = this.#compiled
    const settings = settingsOf(config, this.#running)
    this.#requestListener = await openRequestListener(config.listen, this.#pipeline, {
      settings,
      events: this.#connectionWatch,
      shared,
    })
    startChecks(this.#running)
    this.#reevaluation.start()
    return this.#requestListener.address
  }

  /**
   * Rejects, having changed nothing, when the tables are faulty. Calling the result puts configuration and tables into
   * force, both at once: a request meets the old ones or the new, never a mix.
   */
  async prepare(config: Config): Promise<() => void> {
    const compiled = await this.#decisionPoint.compile(config)
    const next = running(compiled, this.#watch)
    return () => {
      const before = this.#running
      const { signIn } = this.#compiled
      this.#running = next
      this.#compiled = compiled
      this.#decisionPoint.memory.resize(config.memory.seats)
      this.#pipeline.use(next)
      this.#reevaluation.reloaded()
      this.#requestListener?.configure(settingsOf(config, next))
      startChecks(next)
      this.metrics.forgetRoutes(new Set(compiled.table.routes.map((route) => route.id)))
      // Requests under way keep the old pools until they are done.
      for (const upstream of before.upstreams.values()) void upstream.close()
      void signIn?.close()
    }
  }

  /** No new connections; requests in flight have `drain` ms. After that, nothing is decided from memory. */
  async close(drain: number): Promise<void> {
    await this.#requestListener?.close(drain)
    this.#pipeline.account()
    this.#reevaluation.stop()
    await Promise.all([...this.#running.upstreams.values()].map((upstream) => upstream.close()))
    await this.#compiled.signIn?.close()
    this.#decisionPoint.lease.end()
  }

  #addGauges(log: Log): void {
    const { lease, memory } = this.#decisionPoint
    const { metrics } = this
    metrics.gauge(
      'seatgate_lease_live',
      '1 while memory may be used to decide.',
      () => Number(lease.live()),
      'min',
    )
    metrics.gauge(
      'seatgate_feed_seq',
      'Newest change of the store that memory has heard of.',
      () => lease.seq,
      'min',
    )
    metrics.gauge('seatgate_log_lines_dropped', 'Lines that a stalled log reader cost.', () => log.dropped())
    metrics.gauge('seatgate_memory_seat_names', 'Seat names held in memory.', () => memory.sizes.names)
    metrics.gauge('seatgate_memory_seats', 'Seats held in memory by id.', () => memory.sizes.seats)
    metrics.gauge('seatgate_memory_api_keys', 'API keys held in memory.', () => memory.sizes.keys)
    metrics.gauge('seatgate_memory_sessions', 'Sign-in sessions held in memory.', () => memory.sizes.sessions)
    metrics.gauge(
      'seatgate_store_reads_waiting',
      'Reads of Seats, API keys and sessions that wait for their tenant to have its turn.',
      () => memory.waiting,
    )
    metrics.gauge(
      'seatgate_connection_memory_bytes',
      'What connections of clients hold of messages; memory.connections is the bound.',
      () => this.#requestListener?.memory ?? 0,
    )
    metrics.gauge(
      'seatgate_memory_bytes',
      'What all of these take, rather too many than too few; memory.seats is the bound.',
      () => memory.bytes,
    )
  }
}

function settingsOf(
  { limits, memory, proxyProtocol, upstreams }: Config,
  { trustedProxies }: Running,
): ListenerSettings {
  return {
    limits,
    proxyProtocol,
    trusts: (peer) => trustedProxies.has(peerAddress(peer)),
    memory: memory.connections,
    clientOf: (peer) => clientNetwork(peer, trustedProxies),
    stall: Math.max(limits.bodyTimeout, ...[...upstreams.values()].map(({ bodyTimeout }) => bodyTimeout)),
  }
}

function startChecks({ upstreams }: Running): void {
  for (const upstream of upstreams.values()) upstream.start()
}

function running(compiled: CompiledConfig, listener: UpstreamWatch): Running {
  const upstreams = new Map<string, Upstream>()
  const { trustedProxies, limits } = compiled.config
  for (const [name, config] of compiled.config.upstreams) {
    const { balance, connections, uploads, evictionDelay, maxPending, bodyTimeout, health, tls } = config
    const more = { balance, connections, uploads, evictionDelay, maxPending, bodyTimeout, health, tls }
    upstreams.set(name, new Upstream(config, { trustedProxies, ...more, listener }))
  }
  const signIn = compiled.signIn?.send ?? (() => null)
  return {
    engine: compiled.engine,
    upstreams,
    trustedProxies: new TrustedProxies(trustedProxies),
    signIn,
    limits: { ...limits, methods: methodsOf(compiled.config) },
  }
}
