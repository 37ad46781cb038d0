/** Sign-ins under way, for workers: the primary keeps them, or has them kept, as the callback may reach another worker. */

import type { Ephemeral } from './ports.ts'

/** A line between a worker and its primary; see `coherence/link.ts`. */
export interface EphemeralLine {
  call(method: string, argument?: unknown): Promise<unknown>
  serve(method: string, handler: (argument: unknown) => unknown): void
}

const PUT = 'ephemeral.put'
const TAKE = 'ephemeral.take'

/** In a worker. */
export class RemoteEphemeral implements Ephemeral {
  readonly #line: EphemeralLine

  constructor(line: EphemeralLine) {
    this.#line = line
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    await this.#line.call(PUT, [key, value, ttlMs])
  }

  async take(key: string): Promise<string | null> {
    return (await this.#line.call(TAKE, key)) as string | null
  }
}

/** In the primary. */
export function serveEphemeral(line: EphemeralLine, ephemeral: Ephemeral): void {
  line.serve(PUT, (argument) => ephemeral.put(...(argument as [string, string, number])))
  line.serve(TAKE, (key) => ephemeral.take(String(key)))
}
