/** The writes of a script, and their subjects. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../support/client.ts'
import { type LoadState, count, now, pick, type Subject } from './load-state.ts'
import { adminRequest, SPACE } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { Timeline } from './timeline.ts'

/** Milliseconds that a writer waits for a stopped gateway: otherwise all writers might wait there. */
const STOPPED_TIMEOUT = 2000

/** The outcome of the write is unknown. */
export class Unanswered extends Error {}

type Change = readonly [subject: Subject, answer: string]

export class Writing {
  readonly #load: LoadState
  readonly #subjects: Subject[] = []

  constructor(load: LoadState) {
    this.#load = load
  }

  /** Sends one write, and probes its subjects on all gateways once it is acknowledged. Returns the body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
  async send(method: string, path: string, body: unknown, changes: readonly Change[] = []): Promise<any> {
    const { clients, tally, fleet, probe, writable } = this.#load
    const gateway = pick(writable())
    const { interruptions } = gateway
    const sent = now()
    const done = changes.map(([{ timeline }, answer]) => timeline.write(answer, sent))
    const request = clients.get(gateway)?.send(method, path, ...adminRequest(fleet.key, body))
    const answer = await this.#answerOf(gateway, request)
    const answered = now()
    if (answer === null || answer.status >= 300) {
      const failures = gateway.interruptions === interruptions ? tally.failed : tally.interrupted
      count(failures, answer === null ? 'no answer' : String(answer.status))
      throw new Unanswered(`${method} ${path}`)
    }
    tally.writes.push(answered - sent)
    for (const each of done) each(answered)
    probe(changes.map(([subject]) => subject))
    return answer.status === 204 ? null : answer.json
  }

  /** Null: no response, or none in time. */
  async #answerOf(gateway: FleetGateway, request: Promise<Answer> | undefined): Promise<Answer | null> {
    let over = false
    const givenUp = async () => {
      let stoppedFor = 0
      while (!over && stoppedFor < STOPPED_TIMEOUT) {
        await sleep(100)
        stoppedFor = this.#load.stopped(gateway) ? stoppedFor + 100 : 0
      }
      return null
    }
    const answer = (await Promise.race([request?.catch(() => null), givenUp()])) ?? null
    over = true
    return answer
  }

  async token(name: string, answer: string, space = SPACE): Promise<Subject> {
    const token = await this.#load.fleet.token([`${space}:${name}`])
    return this.#add(`token of ${name} in ${space}`, { authorization: `Bearer ${token}`, space }, answer)
  }

  key(name: string, key: string, answer: string): Subject {
    return this.#add(`key ${name}`, { 'x-api-key': key, space: SPACE }, answer)
  }

  /** Excludes the subjects from further requests. */
  remove(...subjects: Subject[]): void {
    for (const subject of subjects) this.#load.subjects.delete(subject)
  }

  end(): void {
    this.remove(...this.#subjects)
  }

  #add(name: string, headers: Record<string, string>, answer: string): Subject {
    const subject = { headers, timeline: new Timeline(name, answer) }
    this.#load.subjects.add(subject)
    this.#subjects.push(subject)
    return subject
  }
}
