/** A gateway in a process of its own, as an operator starts it, and its figures. */

import { startGatewayProcess, MAIN, type GatewayProcess } from '../../test/support/gateway-process.ts'
import { metric } from '../../test/support/operations.ts'
import type { Ending } from '../harness.ts'
import { cpuOf, memoryOf } from '../process-tree.ts'
import { liveHeap } from './inspector.ts'

/** The number of decisions, by the slowest source of their Seats. */
export interface Sources {
  readonly memory: number
  readonly redis: number
  readonly store: number
}

export class ScaleGateway {
  readonly #process: GatewayProcess
  readonly url: string
  readonly ops: string
  /** Milliseconds from the start of the process until it accepts connections. */
  readonly startedIn: number

  private constructor(process: GatewayProcess, startedIn: number) {
    this.#process = process
    this.url = process.origin
    this.ops = process.ops
    this.startedIn = startedIn
  }

  /**
   * @param folder with its configuration
   * @param inspected its inspector is open, which makes it slower
   */
  static async start(ending: Ending, folder: string, inspected: boolean): Promise<ScaleGateway> {
    const begun = performance.now()
    const program = [...(inspected ? ['--inspect=127.0.0.1:0'] : []), MAIN]
    const gateway = await startGatewayProcess(ending.t, { folder, program })
    return new ScaleGateway(gateway, performance.now() - begun)
  }

  /** Microseconds of CPU time. */
  cpu(): number {
    return cpuOf([this.#process.pid])
  }

  /** Resident bytes. */
  memory(): number {
    return memoryOf([this.#process.pid])
  }

  /** Reachable bytes of a gateway whose inspector is open. */
  heap(): Promise<number> {
    return liveHeap(this.#process)
  }

  /** The decisions so far. */
  async sources(): Promise<Sources> {
    const count = async (source: string) =>
      (await metric(this, `seatgate_decisions_by_source_total{source="${source}"}`)) || 0
    return { memory: await count('memory'), redis: await count('redis'), store: await count('store') }
  }

  async stop(): Promise<void> {
    await this.#process.end()
  }
}

export function sourcesBetween(before: Sources, after: Sources): Sources {
  return {
    memory: after.memory - before.memory,
    redis: after.redis - before.redis,
    store: after.store - before.store,
  }
}
