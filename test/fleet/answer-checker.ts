/** Sends requests about subjects to gateways, checks each answer by the subject's timeline, and counts. */

import type { Client } from '../support/client.ts'
import { count, now, type Subject, type Tally } from './load-state.ts'
import type { FleetGateway } from './gateway.ts'

/** A connection for requests about subjects. */
export interface Requester {
  /** `allow`, or the code of the refusal. Rejects when the connection breaks. */
  ask(headers: Readonly<Record<string, string>>): Promise<string>
}

/** Requests through a normal client. */
export function byClient(client: Client): Requester {
  return {
    async ask(headers) {
      const answer = await client.send('GET', '/v1/trainings', headers)
      return answer.status === 200 ? 'allow' : String(answer.json.code)
    },
  }
}

/** Milliseconds after which a request without an answer is a fault: longer than any scenario stops a gateway. */
const TIMEOUT = 120_000
/** Maximum number of described faults. */
const EXAMPLES = 5

export class AnswerChecker {
  readonly #tally: Tally
  readonly #waiting = new Set<Promise<void>>()

  constructor(tally: Tally) {
    this.#tally = tally
  }

  /** Resolves once the answer is checked, or the connection is broken. */
  ask(gateway: FleetGateway, requester: Requester, subject: Subject): Promise<void> {
    const start = now()
    const late = setTimeout(() => this.#fault(gateway, subject, start, 'no answer'), TIMEOUT)
    const request = requester
      .ask(subject.headers)
      .then(
        (answer) => this.#check(gateway, subject, start, answer),
        () => count(this.#tally.broken, gateway.name),
      )
      .finally(() => {
        clearTimeout(late)
        this.#waiting.delete(request)
      })
    this.#waiting.add(request)
    return request
  }

  /** Resolves once all requests so far are answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting)
  }

  #check(gateway: FleetGateway, subject: Subject, start: number, answer: string): void {
    this.#tally.requests++
    if (answer === 'unavailable') return count(this.#tally.unavailable, gateway.name)
    count(this.#tally.decided, gateway.name)
    if (!subject.timeline.allowed(start, now()).has(answer)) this.#fault(gateway, subject, start, answer)
  }

  #fault({ name }: FleetGateway, { timeline }: Subject, start: number, answer: string): void {
    const { examples } = this.#tally
    this.#tally.stale++
    const when = `[${start.toFixed(2)}, ${now().toFixed(2)}]`
    if (examples.length < EXAMPLES)
      examples.push(`${name} answered ${answer} ${when} about ${timeline.describe()}`)
  }
}
