/**
 * Writers: each changes Seats or API keys of its own through random gateways, one write after the other, and keeps the
 * timelines of those whom the writes concern. A write that is not answered 2xx leaves it unknown what became of it:
 * then the writer begins anew with others.
 */

import { type Board, count, now, pick, type Subject } from './board.ts'
import { adminRequest } from './fleet.ts'
import { Timeline } from './timeline.ts'

const LIST = 'trainings:list'
const SPACE = 's1'
/** What a token is answered whose Seat does not grant it. */
const DENIED = 'permission_denied'

/** Nobody knows what became of the write. */
class Unanswered extends Error {}

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

/** Writes for ever, a write a step. */
type Script = (writing: Writing, name: string) => AsyncGenerator<void>

/** Grants and revokes a permission, which a token and an API key rest on. */
async function* permission(writing: Writing, name: string): AsyncGenerator<void> {
  const token = await writing.token(name, DENIED)
  const { id } = await writing.send('POST', '/v1/seats', seat(name), [[token, 'allow']])
  yield
  const made = await writing.send('POST', '/v1/api-keys', { name, seats: [name] })
  const key = writing.key(name, made.key, 'allow')
  for (let granted = false; ; granted = !granted) {
    yield
    const answer = granted ? 'allow' : DENIED
    const permissions = [granted ? LIST : 'trainings:read']
    await writing.send('PUT', `/v1/seats/${id}`, { permissions }, [
      [token, answer],
      [key, answer],
    ])
  }
}

/** Moves a Seat from one space to another and back. */
async function* spaces(writing: Writing, name: string): AsyncGenerator<void> {
  const here = await writing.token(name, DENIED, SPACE)
  const there = await writing.token(name, DENIED, 's2')
  const { id } = await writing.send('POST', '/v1/seats', seat(name), [[here, 'allow']])
  yield
  const made = await writing.send('POST', '/v1/api-keys', { name, seats: [name] })
  const key = writing.key(name, made.key, 'allow')
  for (let moved = true; ; moved = !moved) {
    yield
    await writing.send('PUT', `/v1/seats/${id}`, { spaces: [moved ? 's2' : SPACE] }, [
      [here, moved ? DENIED : 'allow'],
      [there, moved ? 'allow' : DENIED],
      [key, moved ? 'no_seat_in_space' : 'allow'],
    ])
  }
}

/** Gives a Seat one name after the other: a token follows no name, an API key follows the Seat. */
async function* rename(writing: Writing, name: string): AsyncGenerator<void> {
  let before = await writing.token(`${name}.0`, DENIED)
  const { id } = await writing.send('POST', '/v1/seats', seat(`${name}.0`), [[before, 'allow']])
  yield
  const made = await writing.send('POST', '/v1/api-keys', { name, seats: [`${name}.0`] })
  writing.key(name, made.key, 'allow')
  for (let turn = 1; ; turn++) {
    yield
    const after = await writing.token(`${name}.${turn}`, DENIED)
    await writing.send('PUT', `/v1/seats/${id}`, { name: `${name}.${turn}` }, [
      [before, DENIED],
      [after, 'allow'],
    ])
    writing.leave(before)
    before = after
  }
}

/** Makes a Seat, deletes it and makes it again: the name revives no token, and the new Seat no API key. */
async function* remake(writing: Writing, name: string): AsyncGenerator<void> {
  for (let turn = 0; ; turn++) {
    const called = `${name}.${turn}`
    const token = await writing.token(called, DENIED)
    const first = await writing.send('POST', '/v1/seats', seat(called), [[token, 'allow']])
    yield
    const made = await writing.send('POST', '/v1/api-keys', { name: called, seats: [called] })
    const key = writing.key(called, made.key, 'allow')
    yield
    await writing.send('DELETE', `/v1/seats/${first.id}`, undefined, [
      [token, DENIED],
      [key, 'no_seat_in_space'],
    ])
    yield
    const second = await writing.send('POST', '/v1/seats', seat(called), [
      [token, DENIED],
      [key, 'no_seat_in_space'],
    ])
    yield
    await writing.send('DELETE', `/v1/seats/${second.id}`, undefined, [[token, DENIED]])
    yield
    writing.leave(token, key)
  }
}

/** Makes API keys and revokes them. */
async function* keys(writing: Writing, name: string): AsyncGenerator<void> {
  await writing.send('POST', '/v1/seats', seat(name))
  for (let turn = 0; ; turn++) {
    yield
    const made = await writing.send('POST', '/v1/api-keys', { name: `${name}.${turn}`, seats: [name] })
    const key = writing.key(`${name}.${turn}`, made.key, 'allow')
    yield
    await writing.send('DELETE', `/v1/api-keys/${made.id}`, undefined, [[key, 'api_key_revoked']])
    writing.leave(key)
  }
}

function seat(name: string): object {
  return { name, spaces: [SPACE], permissions: [LIST] }
}

const SCRIPTS: readonly Script[] = [permission, spaces, rename, remake, keys]

let made = 0

/** Writes until `ended`, by the script whose turn it is. */
export async function write(board: Board, turn: number, ended: () => boolean): Promise<void> {
  const script = SCRIPTS[turn % SCRIPTS.length] ?? permission
  while (!ended()) {
    const writing = new Writing(board)
    try {
      for await (const _ of script(writing, `${script.name}-${++made}`)) if (ended()) return
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      writing.end()
    }
  }
}
