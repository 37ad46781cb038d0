/**
 * What a gateway serves beside the requests that it decides and forwards: the interfaces of the core for it.
 * `src/composition.ts` passes the implementations to {@link startGateway} and to the workers, so that the
 * core imports none of them.
 */

import type { AddressInfo } from 'node:net'
import type { ActiveTables } from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import type { ListenerEvents, RequestListener } from '../http/server/listener-options.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import type { Route } from '../model/route.ts'
import type { DecisionPipeline } from '../pipeline/gateway-pipeline.ts'
import type { FleetMetrics } from '../telemetry/fleet-metrics.ts'
import type { Log } from '../telemetry/logger.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { CompiledConfig, DecisionPoint } from './decision-point.ts'
import type { MakeEndpoints } from './endpoint-deps.ts'

export interface Extensions {
  readonly endpoints: MakeEndpoints
  /** The built-in routes, with handlers that do not work: for lists and comparisons of tables. */
  readonly builtInPaths: (place: BuiltInPlace) => Route[]
  /** Opens the listener of `decision`. Rejects with the error of Node.js if the address can't be bound. */
  readonly openDecisionListener: (options: DecisionListenerOptions) => Promise<DecisionListener>
  /** Begins to observe reloads, for log and metrics. */
  readonly observeReloads: (log: Log, metrics: Pick<FleetMetrics, 'tablesChanged'>) => ReloadObserver
}

/** Answers the questions of other proxies and programs, about requests that they forward themselves. */
export interface DecisionListener {
  readonly listener: Pick<RequestListener, 'connections' | 'memory'>
  readonly address: AddressInfo
  /** The names of its endpoints in metrics, beside the routes of the tables. */
  readonly routes: readonly string[]
  /** @returns activates the configuration for new connections and questions; the address stays */
  prepare(compiled: CompiledConfig, tracer: Tracer | null): () => void
  /** Stops accepting connections; questions in flight have `drain` ms. */
  close(drain: number): Promise<void>
}

export interface DecisionListenerOptions {
  /** Decides about requests of other proxies, by the tables of the front door. */
  readonly pipeline: DecisionPipeline
  readonly decisionPoint: DecisionPoint
  readonly compiled: CompiledConfig
  readonly tracer: Tracer | null
  readonly metrics: Metrics
  readonly log: Log
  readonly events: ListenerEvents
  /** The port is shared with other workers. */
  readonly shared: boolean
}

/** Gets each reload after its activation. Never throws. */
export interface ReloadObserver {
  begin(before: Config, after: Config): void
  /** The gateway ends. */
  cancel(): void
}

/**
 * Builds the configuration of a main file with tables of the store. Rejects with a ConfigError for their
 * faults, those of the router included.
 */
export type WithTables = (tables: ActiveTables) => Promise<Config>

/**
 * Activates a configuration that is prepared. Once it has returned, each message to a data plane arrives after
 * the activation. Resolves once no data plane decides by an earlier configuration. Never rejects.
 */
export type Activation = () => Promise<void>

/** The files of a gateway's configuration, which the program that starts it reads. */
export interface ConfigFiles {
  /** For the main file with which the gateway starts. */
  readonly withTables: WithTables
  /** Called before the gateway decides anything: from now on, changed files are loaded into it. */
  attach(gateway: Reloadable): void
  /**
   * Resolves once the gateway decides by the files as they were at a moment after the call, or once they have
   * been refused. Never rejects.
   */
  check(): Promise<void>
}

/** A gateway that takes another configuration, as `Gateway` says. */
export interface Reloadable {
  /**
   * @param withTables for tables in the store: the configuration has none
   * @returns the configuration that is active now
   */
  reload(config: Config, withTables?: WithTables): Promise<Config>
  reloaded(): number
  reloadRefused(faults: readonly string[]): number
}

/** What a gateway is composed of, beside the core. */
export interface Composition {
  readonly extensions: Extensions
  /** The path of the program that a worker runs. */
  readonly worker: string
  readonly patience: Patience
  /** Null: the configuration is from no files. */
  readonly files: ConfigFiles | null
}

/** How long the primary waits for its workers, in ms. */
export interface Patience {
  /** The time without a response after which a worker is killed. */
  readonly unresponsive: number
  /** The time for the decisions and counts of a worker: a frozen one is left out. */
  readonly activity: number
}

export const PATIENCE: Patience = { unresponsive: 10_000, activity: 1000 }
