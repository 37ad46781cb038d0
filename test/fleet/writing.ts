/** Writes for a script, and the subjects that they concern. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../support/client.ts'
import { type Board, count, now, pick, type Subject } from './board.ts'
import { adminRequest, SPACE } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import { Timeline } from './timeline.ts'

/** Milliseconds that a writer waits for a gateway that stands still: were all to wait there, nobody would write. */
const PATIENCE = 2000

/** Nobody knows what became of the write. */
export class Unanswered extends Error {}

type Change = readonly [subject: Subject, answer: string]

export class Writing {
  readonly #board: Board
  readonly #mine: Subject[] = []

  constructor(board: Board) {
    this.#board = board
  }

  /** Sends one write, and asks everywhere at once when it has been answered. Gives its body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
  async send(method: string, path: string, body: unknown, changes: readonly Change[] = []): Promise<any> {
    const { clients, tally, fleet, probe, writable } = this.#board
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

  /** Null: none came, or none in time. */
  async #answerOf(gateway: FleetGateway, request: Promise<Answer> | undefined): Promise<Answer | null> {
    let over = false
    const givenUp = async () => {
      let standing = 0
      while (!over && standing < PATIENCE) {
        await sleep(100)
        standing = this.#board.stopped(gateway) ? standing + 100 : 0
      }
      return null
    }
    const answer = (await Promise.race([request?.catch(() => null), givenUp()])) ?? null
    over = true
    return answer
  }

  async token(name: string, answer: string, space = SPACE): Promise<Subject> {
    const token = await this.#board.fleet.token([`${space}:${name}`])
    return this.#add(`token of ${name} in ${space}`, { authorization: `Bearer ${token}`, space }, answer)
  }

  key(name: string, key: string, answer: string): Subject {
    return this.#add(`key ${name}`, { 'x-api-key': key, space: SPACE }, answer)
  }

  /** Nobody asks about them any more. */
  leave(...subjects: Subject[]): void {
    for (const subject of subjects) this.#board.subjects.delete(subject)
  }

  end(): void {
    this.leave(...this.#mine)
  }

  #add(name: string, headers: Record<string, string>, answer: string): Subject {
    const subject = { headers, timeline: new Timeline(name, answer) }
    this.#board.subjects.add(subject)
    this.#mine.push(subject)
    return subject
  }
}
