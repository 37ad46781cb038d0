/**
 * The gateway's data planes: one in this process, or one in each worker on a shared port
 * (`worker-data-planes.ts`).
 */

import type { KeyUse } from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import { DataPlane, type DataPlaneAddresses } from './data-plane.ts'
import { systemClock } from '../coherence/clock.ts'
import { DecisionPoint, tablesInStore } from './decision-point.ts'
import type { Activation, Composition } from './extensions.ts'
import type { FleetNode } from './fleet-node.ts'
import { openLender } from './lender.ts'
import type { Log } from '../telemetry/logger.ts'
import { type Registry, textOf } from '../telemetry/metric-registry.ts'

export interface DataPlanes {
  /**
   * Called once, after the first reading of the change feed. Rejects, with all workers ended, if one of them
   * can't start.
   */
  listen(): Promise<DataPlaneAddresses>
  /** Processes that serve requests, and the configured number. */
  readonly workers: { readonly running: number; readonly size: number }
  /** Compiles a configuration in all data planes. Rejects, without any change, if one of them can't. */
  prepare(config: Config): Promise<Activation>
  /**
   * The metrics in the Prometheus text format.
   *
   * @param own the gateway's registry
   */
  metrics(own: Registry): Promise<string>
  /** The uses of API keys since the last call, also those of data planes that have closed. Never rejects. */
  takeKeyUses(): Promise<readonly KeyUse[]>
  /** Requests in flight have `drain` ms. No request is decided from memory after that. */
  close(drain: number): Promise<void>
}

/**
 * A data plane in this process, without IPC between a request and its decision. Rejects with a ConfigError if
 * the route tables are faulty.
 */
export async function openInProcess(
  config: Config,
  node: FleetNode,
  log: Log,
  { extensions }: Composition,
): Promise<DataPlanes> {
  const { store, instance } = node
  const { cache, ephemeral } = node.redis
  const ports = { ephemeral, log: log.logger }
  const decisionPoint = new DecisionPoint({
    store,
    coherence: instance,
    cache,
    ports,
    memory: config.memory,
    tables: tablesInStore(config),
    tablesService: node.tablesService,
    endpoints: extensions.endpoints,
    fleet: node.view,
    fleetSecrets: node.secrets,
  })
  const limits = { now: systemClock.now, lender: await openLender(cache, log), processes: () => node.size }
  const dataPlane = await DataPlane.open(decisionPoint, config, { log, limits, extensions })
  // Files may be reloaded before the listeners are open: a listener takes the configuration that is active
  // then.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = <V>(run: () => Promise<V>): Promise<V> => {
    const result = turn.then(run, run)
    turn = result
    return result
  }
  return {
    listen: () => inTurn(() => dataPlane.listen()),
    workers: { running: 1, size: 1 },
    prepare: async (next) => {
      const activate = await inTurn(() => dataPlane.prepare(next))
      return async () => activate()
    },
    metrics: (own) => textOf([own, dataPlane.metrics.registry]),
    takeKeyUses: () => Promise.resolve(decisionPoint.keyUses.take()),
    close: (drain) => dataPlane.close(drain),
  }
}
