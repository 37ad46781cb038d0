/** Requests of one caller at the gateways of a fleet with a rate limit, and the count of those that passed. */

import { performance } from 'node:perf_hooks'
import type { RateLimit } from '../../src/model/rate-limit.ts'
import { type Answer, Client } from '../support/client.ts'
import { metric } from '../support/operations.ts'
import { served } from '../support/served.ts'
import { until } from '../support/until.ts'
import { type Fleet, SPACE } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

/** 1 % is a slice of 10. A second adds a quarter of a token. */
export const READS: RateLimit = { name: 'reads', limit: 1000, window: 3_600_000, burst: 1000, per: 'caller' }
export const RATE_LIMIT = `{ limit: ${READS.limit}/h, burst: ${READS.burst} }`
export const SLICE = 10

export class LimitedLoad {
  readonly #headers: Record<string, string>
  readonly #startedAt = performance.now()
  readonly #clients = new Map<FleetGateway, Client>()
  passed = 0
  /** The last answer. */
  last: Answer | null = null

  private constructor(headers: Record<string, string>) {
    this.#headers = headers
  }

  /** @param seat the name of the callers' Seat */
  static async by(fleet: Fleet, seat: string, sub: string): Promise<LimitedLoad> {
    const token = await fleet.token([`${SPACE}:${seat}`], sub)
    return new LimitedLoad({ authorization: `Bearer ${token}`, space: SPACE })
  }

  /** Tokens that the time since the first request has added, at most. */
  get added(): number {
    return ((performance.now() - this.#startedAt) * READS.limit) / READS.window + 1
  }

  /** One request; a 503 takes no token, and is asked again. @returns whether it passed */
  async ask(gateway: FleetGateway): Promise<boolean> {
    const client = this.#clients.get(gateway) ?? new Client(gateway.port)
    this.#clients.set(gateway, client)
    this.last = await served(() => client.send('GET', '/v1/trainings', this.#headers))
    if (this.last.status !== 200 && this.last.status !== 429)
      throw new Error(`${this.last.status} ${this.last.body}`)
    if (this.last.status === 429) return false
    this.passed++
    return true
  }

  async asks(gateway: FleetGateway, times: number): Promise<void> {
    for (let i = 0; i < times; i++) await this.ask(gateway)
  }

  /** Asks until each gateway refuses and holds no token: the first one most, so that the load is uneven. */
  async exhaust(gateways: readonly FleetGateway[]): Promise<void> {
    const isExhausted = async () => {
      const before = this.passed
      let refused = 0
      for (const [at, gateway] of gateways.entries()) {
        let passes = true
        for (let i = 0; i < (at === 0 ? 16 : 1 + (at % 3)) && passes; i++) passes = await this.ask(gateway)
        if (!passes) refused++
      }
      if (refused < gateways.length || this.passed > before) return false
      return (await sum(gateways, 'seatgate_rate_limit_tokens_borrowed')) === 0
    }
    await until(isExhausted, () => `requests pass after ${this.passed}`, { pause: 0, patience: 120_000 })
  }

  close(): void {
    for (const client of this.#clients.values()) client.close()
  }
}

/** Of all gateways. */
export async function sum(gateways: readonly FleetGateway[], series: string): Promise<number> {
  const values = await Promise.all(gateways.map((each) => metric(each, series)))
  return values.reduce((total, value) => total + value, 0)
}

/**
 * What a machine that stalls for longer than a command to Redis may take adds to what passes, and takes from it. Both are 0 on
 * a calm one.
 */
export async function stalls(gateways: readonly FleetGateway[]): Promise<{ more: number; less: number }> {
  const failed = await sum(gateways, 'seatgate_rate_limit_loans_failed_total')
  const more = await sum(gateways, 'seatgate_rate_limit_passed_by_share_total')
  return { more, less: failed * (SLICE + 1) }
}
