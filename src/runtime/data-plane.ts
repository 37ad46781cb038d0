/**
 * The data plane of one process: engine, upstreams, listener and metrics. The gateway has one in its own
 * process, or one in each worker.
 */

import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import { type Config, firstSecrets } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import { packageRoot, versionOf } from '../config/package-version.ts'
import { RateLimiter } from '../decision/limits/rate-limiter.ts'
import type { Surroundings } from '../decision/limits/limited-keys.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { CompiledConfig, DecisionPoint } from './decision-point.ts'
import type { DecisionListener, Extensions } from './extensions.ts'
import { addDataPlaneGauges } from './gauges.ts'
import { GatewayPipeline } from '../pipeline/gateway-pipeline.ts'
import type { GatewayConfig } from '../pipeline/pipeline-config.ts'
import { clientNetwork } from '../proxy/client-network.ts'
import { peerAddress, TrustedProxies } from '../proxy/forwarded.ts'
import { Upstream } from '../proxy/upstream.ts'
import type { UpstreamListener } from '../proxy/upstream-events.ts'
import { Reevaluation } from '../pipeline/reevaluation.ts'
import { explainListening, listenerSource } from './surroundings/listener-fault.ts'
import { openRequestListener } from '../http/server/listener.ts'
import type { ListenerEvents, ListenerSettings, RequestListener } from '../http/server/listener-options.ts'
import { TlsAcceptor } from '../http/server/tls-acceptor.ts'
import { AccessLog } from '../telemetry/access-log.ts'
import { watchConnections } from '../telemetry/connection-watch.ts'
import type { Log } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { watchUpstreams } from '../telemetry/upstream-watch.ts'

/**
 * The addresses of listeners. `fronts` are in the order of the configuration; `decision` is null if it is not
 * configured.
 */
export interface DataPlaneAddresses {
  readonly fronts: readonly AddressInfo[]
  readonly decision: AddressInfo | null
}

interface DataPlaneOptions {
  readonly log: Log
  /** The processes and instances that share the rate limits. */
  readonly limits: Surroundings
  readonly extensions: Extensions
}

export class DataPlane {
  readonly metrics: Metrics
  readonly #log: Log
  readonly #openDecisionListener: Extensions['openDecisionListener']
  readonly #decisionPoint: DecisionPoint
  readonly #rateLimiter: RateLimiter
  readonly #pipeline: GatewayPipeline
  readonly #reevaluation: Reevaluation
  readonly #watch: UpstreamListener
  readonly #connectionEvents: ListenerEvents
  #compiled: CompiledConfig
  #running: GatewayConfig
  #requestListener: RequestListener | null = null
  #decisionListener: DecisionListener | null = null

  /** Rejects with a ConfigError when the route tables are faulty. */
  static async open(
    decisionPoint: DecisionPoint,
    config: Config,
    options: DataPlaneOptions,
  ): Promise<DataPlane> {
    const metrics = new Metrics()
    const compiled = await decisionPoint.compile(config)
    const tracer = await openTracer(config, options.log, metrics)
    return new DataPlane(decisionPoint, compiled, tracer, metrics, options)
  }

  private constructor(
    decisionPoint: DecisionPoint,
    compiled: CompiledConfig,
    tracer: Tracer | null,
    metrics: Metrics,
    { log, limits, extensions }: DataPlaneOptions,
  ) {
    this.metrics = metrics
    this.#log = log
    this.#openDecisionListener = extensions.openDecisionListener
    this.#rateLimiter = new RateLimiter(limits)
    this.#rateLimiter.configure([...compiled.config.rateLimits.values()])
    this.#decisionPoint = decisionPoint
    this.#compiled = compiled
    this.#watch = watchUpstreams(this.metrics, log, () =>
      [...this.#running.upstreams].map(([name, upstream]) => [name, upstream.targets()] as const),
    )
    this.#connectionEvents = watchConnections(this.metrics, log, () =>
      sumOf(this.#requestListener?.connections ?? {}, this.#decisionListener?.listener.connections ?? {}),
    )
    this.#running = running(compiled, this.#watch, tracer)
    this.#pipeline = new GatewayPipeline(this.#running, {
      log: new AccessLog(log.line),
      metrics: this.metrics,
      rateLimiter: this.#rateLimiter,
      activity: decisionPoint.activity,
      files: decisionPoint.current,
    })
    this.#reevaluation = new Reevaluation(decisionPoint.changes, this.#pipeline)
    this.#configureMetrics()
    const rateLimiter = this.#rateLimiter
    const connectionMemory = () =>
      (this.#requestListener?.memory ?? 0) + (this.#decisionListener?.listener.memory ?? 0)
    addDataPlaneGauges(metrics, { decisionPoint, rateLimiter, log, connectionMemory })
  }

  /**
   * Resolves with the addresses in the order of the configuration. Rejects with a SurroundingsFault when one
   * can't be bound.
   *
   * @param shared whether the ports are shared with other workers
   */
  async listen(shared = false): Promise<DataPlaneAddresses> {
    const { config } = this.#compiled
    const settings = settingsOf(config, this.#running, acceptorsOf(config))
    const { listen } = config
    this.#reevaluation.start()
    const options = { settings, events: this.#connectionEvents, shared }
    this.#requestListener = await openRequestListener(listen, this.#pipeline, options, (at, open) =>
      explainListening(listen[at], listenerSource(config, at), open),
    )
    const decision = await this.#listenForQuestions(shared).catch(async (cause: unknown) => {
      await this.#requestListener?.close(0)
      throw cause
    })
    startChecks(this.#running)
    return { fronts: this.#requestListener.addresses, decision }
  }

  async #listenForQuestions(shared: boolean): Promise<AddressInfo | null> {
    const { decision, sources } = this.#compiled.config
    if (decision === null) return null
    const options = {
      pipeline: this.#pipeline,
      decisionPoint: this.#decisionPoint,
      compiled: this.#compiled,
      tracer: this.#running.tracer,
      metrics: this.metrics,
      log: this.#log,
      events: this.#connectionEvents,
      shared,
    }
    this.#decisionListener = await explainListening(decision.listen, sources.decision, () =>
      this.#openDecisionListener(options),
    )
    return this.#decisionListener.address
  }

  /**
   * Compiles a configuration. Rejects, without any change, when the route tables or certificates are faulty.
   * The returned function activates settings and tables together: each request sees either the old ones or
   * the new.
   */
  async prepare(config: Config): Promise<() => void> {
    const compiled = await this.#decisionPoint.compile(config)
    const acceptors = acceptorsOf(config)
    const tracer = await this.#tracerOf(config)
    const next = running(compiled, this.#watch, tracer)
    const activateDecisions = this.#decisionListener?.prepare(compiled, tracer)
    return () => {
      const before = this.#running
      const { signIn, otherIssuers } = this.#compiled
      const hasOtherScopes = adminSpacesOf(this.#compiled.config) !== adminSpacesOf(config)
      this.#running = next
      this.#compiled = compiled
      this.#decisionPoint.memory.resize(config.memory.seats)
      this.#rateLimiter.configure([...config.rateLimits.values()])
      this.#pipeline.activate(next)
      activateDecisions?.()
      this.#decisionPoint.tables?.activate(config.tableSet)
      this.#reevaluation.reloaded()
      if (hasOtherScopes) this.#pipeline.endEvents()
      this.#requestListener?.configure(settingsOf(config, next, acceptors))
      // A listener that opens later starts them.
      if (this.#requestListener !== null) startChecks(next)
      this.#configureMetrics()
      // Requests in flight keep the old pools until they end.
      for (const upstream of before.upstreams.values()) void upstream.close()
      void signIn?.close()
      void otherIssuers?.close()
      if (before.tracer !== next.tracer) void before.tracer?.close()
    }
  }

  /** The tracer stays if its configuration is the same, as spans wait in its queue. */
  async #tracerOf(config: Config): Promise<Tracer | null> {
    const { openTelemetry } = this.#compiled.config
    if (JSON.stringify(openTelemetry.traces) === JSON.stringify(config.openTelemetry.traces))
      return this.#running.tracer
    return openTracer(config, this.#log, this.metrics)
  }

  /** Stops accepting connections; requests in flight have `drain` ms. The lease ends after that. */
  async close(drain: number): Promise<void> {
    const drained = performance.now() + drain
    await Promise.all([this.#requestListener?.close(drain), this.#decisionListener?.close(drain)])
    this.#rateLimiter.close()
    this.#pipeline.logEnded()
    this.#reevaluation.stop()
    await closeUpstreams([...this.#running.upstreams.values()], Math.max(drained - performance.now(), 0))
    await this.#compiled.signIn?.close()
    await this.#compiled.otherIssuers?.close()
    this.#decisionPoint.lease.end()
    await this.#running.tracer?.close()
  }

  #configureMetrics(): void {
    const { config, table } = this.#compiled
    const { upstreams, tenants } = config
    const kept = { routes: table.routes, endpoints: this.#decisionListener?.routes ?? [], upstreams, tenants }
    this.metrics.configure(!config.metrics.routes, kept)
    this.#decisionPoint.activity.retain(tenants, table.routes)
  }
}

function sumOf(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>) {
  const sums = { ...a }
  for (const [key, count] of Object.entries(b)) sums[key] = (sums[key] ?? 0) + count
  return sums
}

/** What a caller of the built-in endpoints sees depends on them. */
function adminSpacesOf({ tenants }: Config): string {
  return JSON.stringify([...tenants].map(([id, { adminSpace }]) => [id, adminSpace]))
}

/** TLS of each listener. Throws if OpenSSL refuses a certificate. */
function acceptorsOf(config: Config): (TlsAcceptor | null)[] {
  const secrets = firstSecrets(config)
  return config.listen.map(({ tls, http2 }) =>
    tls === null ? null : new TlsAcceptor({ tls, http2, secrets }),
  )
}

function settingsOf(
  { limits, memory, proxyProtocol, upstreams }: Config,
  { trustedProxies }: GatewayConfig,
  tls: ListenerSettings['tls'] & {},
): ListenerSettings {
  return {
    limits,
    proxyProtocol,
    trusts: (peer) => trustedProxies.has(peerAddress(peer)),
    memory: memory.connections,
    clientOf: (peer) => clientNetwork(peer, trustedProxies),
    tls,
    stall: Math.max(limits.bodyTimeout, ...[...upstreams.values()].map(({ bodyTimeout }) => bodyTimeout)),
  }
}

function startChecks({ upstreams }: GatewayConfig): void {
  for (const upstream of upstreams.values()) upstream.start()
}

/**
 * Ends what is left after `ms`, such as a connection that is still being opened for a client that has left.
 */
async function closeUpstreams(upstreams: readonly Upstream[], ms: number): Promise<void> {
  const cutTimer = setTimeout(() => {
    for (const upstream of upstreams) void upstream.destroy()
  }, ms)
  await Promise.all(upstreams.map((upstream) => upstream.close()))
  clearTimeout(cutTimer)
}

function running(compiled: CompiledConfig, listener: UpstreamListener, tracer: Tracer | null): GatewayConfig {
  const upstreams = new Map<string, Upstream>()
  const { trustedProxies, limits } = compiled.config
  const { identity } = compiled
  const proxies = new TrustedProxies(trustedProxies)
  for (const [name, config] of compiled.config.upstreams)
    upstreams.set(name, new Upstream(config, { trustedProxies, identity, listener }))
  return {
    engine: compiled.engine,
    shadow: compiled.shadow,
    upstreams,
    trustedProxies: proxies,
    requestIdsFrom: proxies,
    identity,
    hasMcp: compiled.table.servers.length > 0,
    signIn: compiled.signIn?.ports ?? null,
    limits: { ...limits, methods: methodsOf(compiled.config) },
    tracer,
  }
}

/** Loads the code of the tracer only if tracing is on. */
async function openTracer(
  { openTelemetry: { traces } }: Config,
  { logger }: Log,
  { spans: counts }: Metrics,
): Promise<Tracer | null> {
  if (traces === null) return null
  const { Tracer } = await import('../telemetry/tracing/tracer.ts')
  return new Tracer(traces, { logger, counts, version: versionOf(packageRoot()) })
}
