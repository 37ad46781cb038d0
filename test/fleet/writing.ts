/** The writes of a script, and their subjects. */

import { setTimeout as sleep } from 'node:timers/promises'
import { adminRequest, type Answer, type Client } from '../support/client.ts'
import { count, now, pick, type Subject } from './load-state.ts'
import { SPACE } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'
import type { Load } from './load.ts'
import { Timeline } from './timeline.ts'

/** Milliseconds that a writer waits for a stopped gateway: otherwise all writers might wait there. */
const STOPPED_TIMEOUT = 2000

/** The outcome of the write is unknown. */
export class Unanswered extends Error {}

type Change = readonly [subject: Subject, answer: string]

export class Writing {
  readonly #load: Load
  readonly #subjects: Subject[] = []

  constructor(load: Load) {
    this.#load = load
  }

  /** Sends one write of the administrator; see {@link #write}. */
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
  send(method: string, path: string, body: unknown, changes: readonly Change[] = []): Promise<any> {
    const request = adminRequest(this.#load.fleet.key, body)
    return this.#write(`${method} ${path}`, (client) => client.send(method, path, ...request), changes)
  }

  /** Sends a logout token of the provider. */
  async logOut(about: { sid: string } | { sub: string }, changes: readonly Change[]): Promise<void> {
    const logoutToken = await this.#load.fleet.provider.logoutToken(about)
    const body = new URLSearchParams({ logout_token: logoutToken }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const path = '/auth/oidc/backchannel-logout'
    await this.#write(`POST ${path}`, (client) => client.send('POST', path, headers, body), changes)
  }

  /** Sends one write, and probes its subjects on all gateways once it is acknowledged. Returns the body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
  async #write(
    what: string,
    send: (client: Client) => Promise<Answer>,
    changes: readonly Change[],
    // oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
  ): Promise<any> {
    const { clients, tally, probe, writable } = this.#load
    const gateway = pick(writable())
    const { interruptions } = gateway
    const sent = now()
    const done = changes.map(([{ timeline }, answer]) => timeline.write(answer, sent))
    const client = clients.get(gateway)
    const answer = await this.#answerOf(gateway, client === undefined ? undefined : send(client))
    const answered = now()
    if (answer === null || answer.status >= 300) {
      const failures = gateway.interruptions === interruptions ? tally.failed : tally.interrupted
      count(failures, answer === null ? 'no answer' : String(answer.status))
      throw new Unanswered(what)
    }
    tally.writes.push(answered - sent)
    for (const each of done) each(answered)
    probe(changes.map(([subject]) => subject))
    return answer.body === '' ? null : answer.json
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

  async token(name: string, answer: string, space = SPACE, user = 'alice'): Promise<Subject> {
    const token = await this.#load.fleet.token([`${space}:${name}`], user)
    return this.#add(
      `token of ${user} with ${name} in ${space}`,
      { authorization: `Bearer ${token}`, space },
      answer,
    )
  }

  /** A session's token, which every gateway has seen once it is asked about it. */
  async session(name: string, user: string, providerSid: string): Promise<{ id: string; token: Subject }> {
    const hashPerm = [`${SPACE}:${name}`]
    const made = await this.#load.fleet.session({ user, providerSid, hashPerm }).catch(() => null)
    if (made === null) throw new Unanswered('a session')
    const headers = { authorization: `Bearer ${made.token}`, space: SPACE }
    const token = this.#add(`session ${made.id} of ${user}`, headers, 'allow')
    this.#load.probe([token])
    return { id: made.id, token }
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
