/** A steady load on kept and new connections, with the outcome of each request. */

import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../support/until.ts'
import { type Outcome, WireClient } from './wire-client.ts'

export interface LoadOptions {
  readonly port: number
  /** Requests per second of all clients together. */
  readonly rate: number
  readonly clients?: number
  /** Share of clients that open a connection for each request. */
  readonly fresh?: number
  /** Sends the n-th request. */
  readonly send?: (client: WireClient, n: number) => Promise<Outcome>
}

export class Load {
  answered = 0
  refused = 0
  /** Statuses other than 200, and incomplete responses. */
  readonly failures: string[] = []
  readonly statuses = new Map<number, number>()
  /** Called with each response. */
  onAnswer: (body: string, status: number) => void = () => {}
  #on = true
  #sent = 0
  readonly #running: Promise<unknown>

  constructor({ port, rate, clients = 25, fresh = 0.4, send = get }: LoadOptions) {
    const every = (1000 * clients) / rate
    const all = Array.from({ length: clients }, async (_, at) => {
      const client = new WireClient(port, at >= clients * fresh)
      await sleep((every * at) / clients)
      let next = performance.now()
      while (this.#on) {
        const sent = client.connect().then(() => send(client, this.#sent++))
        this.#count(await sent.catch(failed))
        next = Math.max(next + every, performance.now() - 1000)
        await sleep(Math.max(0, next - performance.now()))
      }
      client.close()
    })
    this.#running = Promise.all(all)
  }

  /** Resolves when every request sent has ended. */
  async stop(): Promise<void> {
    this.#on = false
    await this.#running
  }

  /** Resolves when this many more have been answered. */
  async more(requests: number): Promise<void> {
    const wanted = this.answered + requests
    await until(
      () => this.answered >= wanted,
      () => `${this.answered} answers of ${wanted}: ${this.failures.slice(0, 3).join()}`,
      { patience: 60_000 },
    )
  }

  #count(outcome: Outcome): void {
    if (outcome.kind === 'refused') return void this.refused++
    if (outcome.kind === 'failed') return void this.failures.push(outcome.how)
    const { status, body } = outcome
    this.answered++
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    this.onAnswer(body, status)
    if (status !== 200) this.failures.push(`${status} ${body.slice(0, 200)}`)
  }
}

function get(client: WireClient): Promise<Outcome> {
  return client.send('GET', '/docs/a')
}

function failed(error: Error): Outcome {
  return { kind: 'failed', how: error.message }
}
