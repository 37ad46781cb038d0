/** The record of completed sign-ins for workers. The primary keeps it, because a callback may reach any worker. */

import type { Ephemeral } from '../ports.ts'

/** A channel between a worker and the primary; see `coherence/worker-link.ts`. */
export interface WorkerChannel {
  call(method: string, argument?: unknown): Promise<unknown>
  serve(method: string, handler: (argument: unknown) => unknown): void
}

const EPOCH = 'ephemeral.epoch'
const USE = 'ephemeral.use'

/** In a worker. */
export class RemoteEphemeral implements Ephemeral {
  readonly #channel: WorkerChannel

  constructor(channel: WorkerChannel) {
    this.#channel = channel
  }

  async epoch(): Promise<string> {
    return String(await this.#channel.call(EPOCH))
  }

  async use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean> {
    return (await this.#channel.call(USE, [tenant, epoch, id, ttlMs])) === true
  }
}

/** In the primary. */
export function serveEphemeral(channel: WorkerChannel, ephemeral: Ephemeral): void {
  channel.serve(EPOCH, () => ephemeral.epoch())
  channel.serve(USE, (argument) => ephemeral.use(...(argument as [string, string, string, number])))
}
