/**
 * The requests of a workload for one running peer: each load continues the list after the last one, and
 * rejects if the responses are not the planned ones.
 */

import { saturate } from './load.ts'
import { type Client, type Latency, type Loaded, needsTls } from './load-settings.ts'
import { atRate } from './load.ts'
import { plannedOf, type Requests, type Status } from './requests.ts'

export const CONNECTIONS = 64
/**
 * Requests after which run-time compilation has settled (Seatgate, blocks of 40,000: 40, 27, 26, 24, 24, 24
 * µs). Before, a request costs up to ten times as much.
 */
export const WARM = 40_000
/** Requests that warm a peer up, if there is time. */
export const ENOUGH = 200_000
/** Loads that a fresh process has for its first response: on a busy machine it takes seconds. */
const FIRST_LOADS = 10
/** Seconds of a part of the warm-up with TLS, where connecting takes some of them. */
const TLS_STEP = 3
const STATUSES: readonly Status[] = [200, 401, 403]

export interface TrafficSetup {
  readonly port: number
  readonly requests: Requests
  /** Whether the peer checks tokens; if it does not, every response is 200. */
  readonly authorises: boolean
  /** Cores that the peer may use, and the load may not. */
  readonly workers: number
  readonly connections?: number
  readonly client?: Client
}

export class Traffic {
  readonly #setup: TrafficSetup
  #sent = 0

  constructor(setup: TrafficSetup) {
    this.#setup = setup
  }

  /**
   * A second or a few at a time, until enough requests are sent. The first part checks the status of each
   * response.
   *
   * @returns the number of requests
   */
  async warmUp(seconds: number, wanted = ENOUGH): Promise<number> {
    const { newTokens, statuses } = this.#setup.requests
    // If every request takes a new token, half of them are left for the rest of the run.
    const enough = newTokens !== null && statuses.length === 1 ? newTokens.count / 2 : wanted
    const step = needsTls(this.#common.client) ? TLS_STEP : 1
    for (let second = 0; second < seconds && this.#sent < enough; second += step)
      await this.saturate(step, second === 0)
    return this.#sent
  }

  async saturate(seconds: number, countStatuses = false): Promise<Loaded> {
    const from = this.#sent
    const load = () => saturate({ ...this.#common, from, seconds, countStatuses })
    let loaded = await load()
    for (let times = 0; from === 0 && loaded.requests === 0 && times < FIRST_LOADS; times++)
      loaded = await load()
    this.#sent += loaded.sent
    this.#assertPlanned(loaded, from)
    return loaded
  }

  /** @param rate requests per second */
  async atRate(rate: number, seconds: number): Promise<Latency> {
    const from = this.#sent
    const latency = await atRate({ ...this.#common, from, seconds, rate })
    this.#sent += latency.requests + latency.failed
    const refused = latency.requests - this.#planned(200, from, latency.requests)
    if (latency.failed > 0 || latency.refused !== refused)
      throw new Error(
        `at ${Math.round(rate)} a second ${latency.refused} of ${latency.requests} were refused, planned ${refused}; ${latency.failed} failed`,
      )
    return latency
  }

  get #common() {
    const { port, requests, workers, connections = CONNECTIONS, client = 'http1' } = this.#setup
    return { port, requests, workers, connections, client }
  }

  #planned(status: Status, from: number, count: number): number {
    const { requests, authorises } = this.#setup
    if (authorises) return plannedOf(requests, status, from, count)
    return status === 200 ? count : 0
  }

  /** The last requests may have no response: each status may lack this many, and no more. */
  #assertPlanned({ requests, sent, refused, failed, statuses }: Loaded, from: number): void {
    if (requests === 0) throw new Error('nothing was answered')
    const open = sent - requests
    const isPlanned = (count: number, planned: number) => count <= planned && count >= planned - open
    const planned = STATUSES.map((status) => this.#planned(status, from, sent))
    const counted = Object.keys(statuses).length > 0
    const counts = STATUSES.map((status) => statuses[status] ?? 0)
    const right =
      isPlanned(refused, sent - (planned[0] ?? 0)) &&
      (!counted || counts.every((count, i) => isPlanned(count, planned[i] ?? 0)))
    if (right && failed === 0) return
    const shares = counted ? `${STATUSES.join('/')}: ${counts.join('/')}` : `${refused} refused`
    throw new Error(
      `of ${requests} answers ${shares}, planned ${STATUSES.join('/')}: ${planned.join('/')} of ${sent}; ${failed} failed`,
    )
  }
}
