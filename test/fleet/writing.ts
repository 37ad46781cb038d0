/** Writes for a script, and the subjects that they concern. Used by scripts.ts; each writer of writers.ts has its own. */

import { type Board, count, now, pick, type Subject } from './board.ts'
import { adminRequest, SPACE } from './fleet.ts'
import { Timeline } from './timeline.ts'

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
    const answer = (await request?.catch(() => null)) ?? null
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
