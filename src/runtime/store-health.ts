/** What the calls of all processes of this instance find of the store, as `/readyz` and the log say it. */

import type { HealthState } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

/** `ok`, or `failing: ` and the fault. `store`: the reads that decisions rest on. */
export interface StoreParts {
  readonly store: string
  readonly store_lists: string
  readonly store_writes: string
}

const WORKS = ['reads', 'lists', 'writes'] as const

export class StoreHealth {
  readonly #log: Log
  readonly #states = new Map<number, HealthState>()
  #said: HealthState = { reads: null, lists: null, writes: null }

  constructor(log: Log) {
    this.#log = log
  }

  /** @param state null: the process has ended */
  heard(process: number, state: HealthState | null): void {
    if (state === null) this.#states.delete(process)
    else this.#states.set(process, state)
    this.#say()
  }

  get parts(): StoreParts {
    const { reads, lists, writes } = this.#together()
    return { store: word(reads), store_lists: word(lists), store_writes: word(writes) }
  }

  /** The first fault of each kind. */
  #together(): HealthState {
    const states = [...this.#states.values()]
    const first = (work: keyof HealthState) => states.find((state) => state[work] !== null)?.[work] ?? null
    return { reads: first('reads'), lists: first('lists'), writes: first('writes') }
  }

  #say(): void {
    const now = this.#together()
    for (const work of WORKS) {
      if (now[work] === this.#said[work]) continue
      const fault = now[work]
      if (fault === null) this.#log.logger.info({ work }, 'the store: calls of this kind succeed again')
      else this.#log.logger.error({ work, fault }, 'the store: calls of this kind fail')
    }
    this.#said = now
  }
}

function word(fault: HealthState['reads']): string {
  return fault === null ? 'ok' : `failing: ${fault}`
}
