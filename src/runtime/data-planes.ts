/**
 * The front door as the gateway sees it: in this process, or in workers that share one port (`worker-data-planes.ts`).
 */

import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import type { Config } from '../config/config.ts'
import { DataPlane } from './data-plane.ts'
import { DecisionPoint } from './decision-point.ts'
import type { FleetNode } from './fleet-node.ts'
import type { Log } from '../telemetry/logger.ts'

export interface DataPlanes {
  readonly address: AddressInfo
  /** Processes that decide now, and how many there ought to be. */
  readonly workers: { readonly running: number; readonly wanted: number }
  /** All of them or none: rejects, with nothing changed, when one of them can't. */
  reload(config: Config): Promise<void>
  /** In the Prometheus text format, with the gateway's own. */
  metrics(own: Registry): Promise<string>
  /** Requests in flight have `drain` ms. After that, nothing is decided from memory. */
  close(drain: number): Promise<void>
}

/** In this process: nothing is between a request and its decision. */
export class InProcessDataPlane implements DataPlanes {
  readonly address: AddressInfo
  readonly workers = { running: 1, wanted: 1 }
  readonly #dataPlane: DataPlane

  private constructor(dataPlane: DataPlane, address: AddressInfo) {
    this.#dataPlane = dataPlane
    this.address = address
  }

  /** Rejects when the store can't be read, the address can't be had or the route tables are faulty. */
  static async open(config: Config, node: FleetNode, log: Log): Promise<DataPlanes> {
    const { store, instance, cache, ephemeral } = node
    const decisionPoint = new DecisionPoint({
      store,
      coherence: instance,
      cache,
      ports: { ephemeral, log: log.logger },
      memory: config.memory,
    })
    const dataPlane = await DataPlane.open(decisionPoint, config, log)
    await node.start()
    return new InProcessDataPlane(dataPlane, await dataPlane.listen())
  }

  async reload(config: Config): Promise<void> {
    const activate = await this.#dataPlane.prepare(config)
    activate()
  }

  metrics(own: Registry): Promise<string> {
    return Registry.merge([own, this.#dataPlane.metrics.registry]).metrics()
  }

  close(drain: number): Promise<void> {
    return this.#dataPlane.close(drain)
  }
}
