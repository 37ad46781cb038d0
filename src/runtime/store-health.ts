/** Merges what all processes of the instance observe of the store, for `/readyz` and the log. */

import type { HealthState } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

/** Each part is `ok`, or `failing: ` and the fault. `store` is about the reads that decisions depend on. */
export interface StoreParts {
  readonly store: string
  readonly store_lists: string
  readonly store_writes: string
}

const KINDS = ['reads', 'lists', 'writes'] as const

export class StoreHealth {
  readonly #log: Log
  readonly #states = new Map<number, HealthState>()
  #logged: HealthState = { reads: null, lists: null, writes: null }

  constructor(log: Log) {
    this.#log = log
  }

  /** @param state null: the process has ended */
  update(process: number, state: HealthState | null): void {
    if (state === null) this.#states.delete(process)
    else this.#states.set(process, state)
    this.#logChanges()
  }

  get parts(): StoreParts {
    const { reads, lists, writes } = this.#merged()
    return { store: statusText(reads), store_lists: statusText(lists), store_writes: statusText(writes) }
  }

  /** The first fault of each kind. */
  #merged(): HealthState {
    const states = [...this.#states.values()]
    const first = (kind: keyof HealthState) => states.find((state) => state[kind] !== null)?.[kind] ?? null
    return { reads: first('reads'), lists: first('lists'), writes: first('writes') }
  }

  #logChanges(): void {
    const now = this.#merged()
    for (const kind of KINDS) {
      if (now[kind] === this.#logged[kind]) continue
      const fault = now[kind]
      if (fault === null)
        this.#log.logger.info({ work: kind }, 'calls of this kind to the store succeed again')
      else this.#log.logger.error({ work: kind, fault }, 'calls of this kind to the store fail')
    }
    this.#logged = now
  }
}

function statusText(fault: HealthState['reads']): string {
  return fault === null ? 'ok' : `failing: ${fault}`
}
