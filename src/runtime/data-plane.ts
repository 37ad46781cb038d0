/**
 * The data plane of one process: engine, upstreams, listener and metrics. The gateway has one in its own process, or
 * one in each worker.
 */

import type { AddressInfo } from 'node:net'
import type { Config } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import type { CompiledConfig, DecisionPoint } from './decision-point.ts'
import { Pipeline, type PipelineConfig } from '../pipeline/pipeline.ts'
import { clientNetwork } from '../proxy/client-network.ts'
import { peerAddress, TrustedProxies } from '../proxy/forwarded.ts'
import { Upstream } from '../proxy/upstream.ts'
import type { UpstreamListener } from '../proxy/upstream-events.ts'
import { Reevaluation } from '../pipeline/reevaluation.ts'
import { explainListening } from './surroundings/listener.ts'
import { openRequestListener } from '../http/server/listener.ts'
import type { ListenerEvents, ListenerSettings, RequestListener } from '../http/server/listener-options.ts'
import { AccessLog } from '../telemetry/access-log.ts'
import { watchConnections } from '../telemetry/connection-watch.ts'
import type { Log } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { watchUpstreams } from '../telemetry/upstream-watch.ts'

export class DataPlane {
  readonly metrics = new Metrics()
  readonly #decisionPoint: DecisionPoint
  readonly #pipeline: Pipeline
  readonly #reevaluation: Reevaluation
  readonly #watch: UpstreamListener
  readonly #connectionEvents: ListenerEvents
  #compiled: CompiledConfig
  #running: PipelineConfig
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
    this.#connectionEvents = watchConnections(
      this.metrics,
      log,
      () => this.#requestListener?.connections ?? {},
    )
    this.#running = running(compiled, this.#watch)
    this.#pipeline = new Pipeline(this.#running, new AccessLog(log.line), this.metrics)
    this.#reevaluation = new Reevaluation(decisionPoint.changes, this.#pipeline)
    this.#addGauges(log)
  }

  /**
   * Rejects with a SurroundingsFault when the address can't be bound. @param shared the port is shared with other workers
   */
  async listen(shared = false): Promise<AddressInfo> {
    const { config } = this.#compiled
    const settings = settingsOf(config, this.#running)
    const { listen, sources } = config
    const options = { settings, events: this.#connectionEvents, shared }
    this.#requestListener = await explainListening(listen, sources.listen, () =>
      openRequestListener(listen, this.#pipeline, options),
    )
    startChecks(this.#running)
    this.#reevaluation.start()
    return this.#requestListener.address
  }

  /**
   * Compiles a configuration. Rejects, without any change, when the route tables are faulty. The returned function
   * activates settings and tables together: each request sees either the old ones or the new.
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
      this.#pipeline.activate(next)
      this.#reevaluation.reloaded()
      this.#requestListener?.configure(settingsOf(config, next))
      startChecks(next)
      this.metrics.retainRoutes(new Set(compiled.table.routes.map((route) => route.id)))
      // Requests in flight keep the old pools until they end.
      for (const upstream of before.upstreams.values()) void upstream.close()
      void signIn?.close()
    }
  }

  /** Stops accepting connections; requests in flight have `drain` ms. The lease ends after that. */
  async close(drain: number): Promise<void> {
    await this.#requestListener?.close(drain)
    this.#pipeline.logEnded()
    this.#reevaluation.stop()
    await Promise.all([...this.#running.upstreams.values()].map((upstream) => upstream.close()))
    await this.#compiled.signIn?.close()
    this.#decisionPoint.lease.end()
  }

  #addGauges(log: Log): void {
    const { lease, memory, lookups } = this.#decisionPoint
    const { metrics } = this
    metrics.addCaches(lookups)
    metrics.gauge(
      'seatgate_lease_live',
      '1 while the lease permits decisions from memory.',
      () => Number(lease.live()),
      'min',
    )
    metrics.gauge(
      'seatgate_feed_seq',
      'Sequence number of the newest change that memory has applied.',
      () => lease.seq,
      'min',
    )
    metrics.gauge('seatgate_log_lines_dropped', 'Log lines dropped because their reader stalled.', () =>
      log.dropped(),
    )
    metrics.gauge('seatgate_memory_seat_names', 'Seat names held in memory.', () => memory.sizes.names)
    metrics.gauge('seatgate_memory_seats', 'Seats held in memory by id.', () => memory.sizes.seats)
    metrics.gauge('seatgate_memory_api_keys', 'API keys held in memory.', () => memory.sizes.keys)
    metrics.gauge('seatgate_memory_sessions', 'Sign-in sessions held in memory.', () => memory.sizes.sessions)
    metrics.gauge(
      'seatgate_store_reads_waiting',
      'Reads of Seats, API keys and sessions that wait until it is the turn of their tenant.',
      () => memory.waiting,
    )
    metrics.gauge(
      'seatgate_connection_memory_bytes',
      'Bytes of messages that client connections hold; bounded by memory.connections.',
      () => this.#requestListener?.memory ?? 0,
    )
    metrics.gauge(
      'seatgate_memory_bytes',
      'Bytes of cached Seats, API keys and sessions, an upper estimate; bounded by memory.seats.',
      () => memory.bytes,
    )
  }
}

function settingsOf(
  { limits, memory, proxyProtocol, upstreams }: Config,
  { trustedProxies }: PipelineConfig,
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

function startChecks({ upstreams }: PipelineConfig): void {
  for (const upstream of upstreams.values()) upstream.start()
}

function running(compiled: CompiledConfig, listener: UpstreamListener): PipelineConfig {
  const upstreams = new Map<string, Upstream>()
  const { trustedProxies, limits } = compiled.config
  for (const [name, config] of compiled.config.upstreams)
    upstreams.set(name, new Upstream(config, { trustedProxies, listener }))
  const signIn = compiled.signIn?.redirect ?? (() => null)
  return {
    engine: compiled.engine,
    shadow: compiled.shadow,
    upstreams,
    trustedProxies: new TrustedProxies(trustedProxies),
    signIn,
    limits: { ...limits, methods: methodsOf(compiled.config) },
  }
}
