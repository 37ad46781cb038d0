/** The one writer of a run: one write at a time, and at most one in each interval. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../remote/gateway-client.ts'
import { faultCode } from '../remote/no-answer.ts'
import { GatewayRefusal } from '../remote/problem-text.ts'
import { answersTo, type Credential, type CycleState, NOTHING } from './expected-answers.ts'
import type { Subjects } from './readers.ts'
import type { RunRecord } from './run-record.ts'
import { Subject, type Write } from './staleness.ts'

/** The write has no 2xx, but may take effect: nothing is expected of its credentials any more. */
export class Unanswered extends Error {}

/** The run ends before the next write. */
export class RunEnded extends Error {}

/** Whether the write certainly changed nothing, and another attempt would not help. */
export function isRefused({ status }: { readonly status: number }): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

/** The code of the network's fault, or 'no answer' if another program has answered. */
export function unansweredAs(cause: unknown): string {
  return (cause instanceof Error && cause.cause !== undefined && faultCode(cause.cause)) || 'no answer'
}

/** The least time in ms from a 2xx to the next write: reads during a write may show the earlier state. */
const READ_TIME = 250

/** The pace of writes. */
export class Pace {
  readonly #interval: number
  #next = -Infinity

  /** Makes a pace. @param interval ms between the beginnings of two writes */
  constructor(interval: number) {
    this.#interval = interval
  }

  /** Resolves when the next write may begin. @throws RunEnded */
  async turn(signal: AbortSignal): Promise<void> {
    await pause(Math.max(0, this.#next - performance.now()), signal)
    this.#next = performance.now() + this.#interval
  }

  /** Notes that a write was answered with 2xx. */
  answered(): void {
    this.#next = Math.max(this.#next, performance.now() + READ_TIME)
  }
}

/** Waits. @throws RunEnded as soon as the run ends */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new RunEnded()
  })
}

/** An address to which writes are sent. */
export interface WritePlace<S> {
  readonly name: string
  /** Sends a write. @throws GatewayRefusal, or another error if there is no answer */
  send<V>(sent: S): Promise<Answer<V>>
}

interface WriterParts<S> {
  readonly places: readonly WritePlace<S>[]
  readonly subjects: Subjects<Credential>
  readonly record: RunRecord
  readonly pace: Pace
  readonly signal: AbortSignal
}

/** Writes, and keeps what is expected of each credential. */
export class Writer<S> {
  readonly #parts: WriterParts<S>
  #turn = 0
  #state = NOTHING
  #subjects: Subject<Credential>[] = []
  /** The keys of the previous cycle, which stay revoked: they are read until the next ones are revoked. */
  #revoked: readonly Subject<Credential>[] = []
  /** The newest write with a 2xx. */
  #last: Write | null = null

  constructor(parts: WriterParts<S>) {
    this.#parts = parts
  }

  get state(): CycleState {
    return this.#state
  }

  /** The newest write that was answered with 2xx. */
  get lastWrite(): Write {
    if (this.#last === null) throw new Error('no write so far')
    return this.#last
  }

  /** Ends a cycle: its keys are revoked, and stay so during the next one. */
  retire(): void {
    const keys = this.#subjects.filter(({ credential }) => credential.kind === 'key')
    const others = this.#subjects.filter((subject) => !keys.includes(subject))
    this.#parts.subjects.remove([...others, ...this.#revoked])
    this.#revoked = keys
    this.#subjects = []
    this.#state = NOTHING
  }

  /** Gives up a cycle: nothing is expected of its credentials. */
  forget(): void {
    this.#parts.subjects.remove(this.#subjects)
    this.#subjects = []
    this.#state = NOTHING
  }

  /** Adds a credential, which is read from the last write on. */
  expect(name: string, credential: Credential): void {
    const subject = new Subject(name, credential, this.lastWrite, answersTo(credential, this.#state))
    this.#subjects.push(subject)
    this.#parts.record.beginReads()
    this.#parts.subjects.add(subject)
    this.#parts.subjects.wake([subject])
  }

  /**
   * Makes a write.
   *
   * @param next the state that the write makes
   * @throws Unanswered, RunEnded, or GatewayRefusal if nothing was changed
   */
  async write<V>(operation: string, sent: S, next: (made: V | null) => CycleState): Promise<V> {
    const { places, pace, signal, record, subjects } = this.#parts
    await pace.turn(signal)
    const place = places[this.#turn++ % places.length]
    if (place === undefined) throw new Error('there is no place to write at')
    const write = {
      operation,
      place: place.name,
      began: performance.now(),
      answered: Infinity,
      requestId: '',
    }
    const expected = next(null)
    const before = new Map(this.#subjects.map((each) => [each, each.answers.join()]))
    for (const subject of this.#subjects) subject.begin(write, answersTo(subject.credential, expected))
    const answer = await place.send<V>(sent).catch((cause: unknown) => {
      if (cause instanceof GatewayRefusal && isRefused(cause.problem)) {
        for (const subject of this.#subjects) subject.withdraw(write)
        throw cause
      }
      record.unanswered(cause instanceof GatewayRefusal ? cause.problem.code : unansweredAs(cause))
      throw new Unanswered(cause instanceof Error ? cause.message : String(cause))
    })
    write.answered = performance.now()
    pace.answered()
    write.requestId = answer.requestId
    this.#last = write
    this.#state = next(answer.value)
    record.wrote(write)
    const changed = this.#subjects.filter((each) => each.answers.join() !== before.get(each))
    subjects.wake(changed.length === 0 ? this.#subjects : changed)
    return answer.value
  }
}
