/**
 * The front door as the gateway sees it: in this process, or in workers that share one port
 * (`worker-doors.ts`). Opened by the gateway.
 */

import type { AddressInfo } from 'node:net'
import { Registry } from 'prom-client'
import type { Config } from '../config/config.ts'
import { Door } from './data-plane.ts'
import { Engine } from './decision-point.ts'
import type { Membership } from './fleet-node.ts'
import type { Log } from '../telemetry/logger.ts'

export interface Doors {
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
export class OwnDoor implements Doors {
  readonly address: AddressInfo
  readonly workers = { running: 1, wanted: 1 }
  readonly #door: Door

  private constructor(door: Door, address: AddressInfo) {
    this.#door = door
    this.address = address
  }

  /** Rejects when the store can't be read, the address can't be had or the route tables are faulty. */
  static async open(config: Config, membership: Membership, log: Log): Promise<Doors> {
    const { store, instance, cache, ephemeral } = membership
    const engine = new Engine({
      store,
      coherence: instance,
      cache,
      ports: { ephemeral, log: log.logger },
      memory: config.memory,
    })
    const door = await Door.open(engine, config, log)
    await membership.start()
    return new OwnDoor(door, await door.listen())
  }

  async reload(config: Config): Promise<void> {
    const put = await this.#door.prepare(config)
    put()
  }

  metrics(own: Registry): Promise<string> {
    return Registry.merge([own, this.#door.metrics.registry]).metrics()
  }

  close(drain: number): Promise<void> {
    return this.#door.close(drain)
  }
}
