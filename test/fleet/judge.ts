/** Asks gateways about subjects, judges each answer by the subject's timeline, and counts. */

import type { Client } from '../support/client.ts'
import { count, now, type Subject, type Tally } from './board.ts'
import type { FleetGateway } from './gateway.ts'

/** A way to ask a gateway. */
export interface Asker {
  /** `allow`, or the code of the refusal. Rejects when the connection breaks. */
  ask(headers: Readonly<Record<string, string>>): Promise<string>
}

/** As any program asks. */
export function byClient(client: Client): Asker {
  return {
    async ask(headers) {
      const answer = await client.send('GET', '/v1/trainings', headers)
      return answer.status === 200 ? 'allow' : String(answer.json.code)
    },
  }
}

/** Milliseconds after which a question that is not answered is a fault of its own. */
const PATIENCE = 30_000
/** Faults that are told in words. */
const EXAMPLES = 5

export class Judge {
  readonly #tally: Tally
  readonly #waiting = new Set<Promise<void>>()

  constructor(tally: Tally) {
    this.#tally = tally
  }

  /** Resolves when it has been answered and judged, or the connection is broken. */
  ask(gateway: FleetGateway, asker: Asker, subject: Subject): Promise<void> {
    const start = now()
    const late = setTimeout(() => this.#fault(gateway, subject, start, 'nothing for long'), PATIENCE)
    const asked = asker
      .ask(subject.headers)
      .then(
        (answer) => this.#judge(gateway, subject, start, answer),
        () => count(this.#tally.broken, gateway.name),
      )
      .finally(() => {
        clearTimeout(late)
        this.#waiting.delete(asked)
      })
    this.#waiting.add(asked)
    return asked
  }

  /** Resolves when all that has been asked so far is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#waiting)
  }

  #judge(gateway: FleetGateway, subject: Subject, start: number, answer: string): void {
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
      examples.push(`${name} said ${answer} ${when} about ${timeline.describe()}`)
  }
}
