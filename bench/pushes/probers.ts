/** Requests for the route that pushes change, one after another at an instance. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Ending } from '../harness.ts'
import { GATE } from './route-files.ts'

/** Milliseconds between an answer and the next request of a reader. */
const PAUSE = 10

export interface Probe {
  /** ms since the epoch */
  readonly began: number
  readonly ended: number
  /** 0: the connection was closed or refused. */
  readonly status: number
}

/** ms since the epoch, with a fraction */
export function now(): number {
  return performance.timeOrigin + performance.now()
}

export class Prober {
  readonly #pool: Pool
  #probes: Probe[] = []
  #isOver = false

  private constructor(port: number, readers: number) {
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: readers })
  }

  /** @param readers how many requests are sent at the same time */
  static start(ending: Ending, port: number, readers: number): Prober {
    const prober = new Prober(port, readers)
    const reading = Array.from({ length: readers }, () => prober.#read())
    ending.teardown(async () => {
      prober.#isOver = true
      await prober.#pool.destroy()
      await Promise.all(reading)
    })
    return prober
  }

  /** The requests that were answered since the last call of {@link take}. */
  get probes(): readonly Probe[] {
    return this.#probes
  }

  take(): readonly Probe[] {
    return this.#probes.splice(0)
  }

  async #read(): Promise<void> {
    while (!this.#isOver) {
      const began = now()
      const status = await this.#ask()
      if (!this.#isOver) this.#probes.push({ began, ended: now(), status })
      await sleep(PAUSE)
    }
  }

  async #ask(): Promise<number> {
    try {
      const { statusCode, body } = await this.#pool.request({ method: 'GET', path: GATE })
      await body.dump()
      return statusCode
    } catch {
      return 0
    }
  }
}
