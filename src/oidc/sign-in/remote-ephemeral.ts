/** Used sign-ins, for workers: the primary notes them, or has them noted, as the callback may reach any worker. */

import type { Ephemeral } from '../ports.ts'

/** A line between a worker and its primary; see `coherence/worker-link.ts`. */
export interface EphemeralLine {
  call(method: string, argument?: unknown): Promise<unknown>
  serve(method: string, handler: (argument: unknown) => unknown): void
}

const EPOCH = 'ephemeral.epoch'
const USE = 'ephemeral.use'

/** In a worker. */
export class RemoteEphemeral implements Ephemeral {
  readonly #line: EphemeralLine

  constructor(line: EphemeralLine) {
    this.#line = line
  }

  async epoch(): Promise<string> {
    return String(await this.#line.call(EPOCH))
  }

  async use(tenant: string, epoch: string, id: string, ttlMs: number): Promise<boolean> {
    return (await this.#line.call(USE, [tenant, epoch, id, ttlMs])) === true
  }
}

/** In the primary. */
export function serveEphemeral(line: EphemeralLine, ephemeral: Ephemeral): void {
  line.serve(EPOCH, () => ephemeral.epoch())
  line.serve(USE, (argument) => ephemeral.use(...(argument as [string, string, string, number])))
}
