/** Several writers at once: in each scene, some order must explain all answers to writers and callers. */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayRefusal } from '../remote/problem-text.ts'
import type { PlaceClient } from './place-client.ts'
import { isRefused, Pace, pause, RunEnded, unansweredAs, type WritePlace } from './change-writer.ts'
import type { CycleRequest } from './cycle-request.ts'
import type { Credential } from './expected-answers.ts'
import { type MadeObject, type Managing, removeAll } from './made-objects.ts'
import { checkHistory, type Disorder, disorderText, possibleAnswers } from './order-report.ts'
import type { RunRecord } from './run-record.ts'
import { NEEDED, Scene } from './scene.ts'
import {
  type Answer,
  answerText,
  type Operation,
  mayChange,
  type Invocation,
  invocationText,
} from './tenant-operations.ts'
import { type AdministratorInvocation, answerOf, isExpected, requestOf } from './tenant-requests.ts'
import type { TrialTokens } from './trial-tokens.ts'

/** The operations of the writers; the report names those that were not reached. */
export const MANY_OPERATIONS = [
  'create Seat',
  'update Seat',
  'delete Seat',
  'apply',
  'create key',
  'revoke key',
] as const

/** The number of operations of each writer in a scene. */
const QUESTIONS = 10
/** The most operations of a scene. */
const MOST_OPERATIONS = 4000
/** The time in ms between the beginnings of two reads of one reader. */
const READ_EVERY = 50
const NAMES = ['a', 'b', 'c']

interface ManyWritersParts {
  /** The connections of each writer. */
  readonly writers: readonly (readonly WritePlace<CycleRequest>[])[]
  readonly readPlaces: readonly PlaceClient[]
  /** The number of readers at each place. */
  readonly readers: number
  readonly record: RunRecord
  /** The time in ms between two writes of one writer. */
  readonly interval: number
  /** The tokens; null if there are none. */
  readonly tokens: TrialTokens | null
  readonly space: string
  readonly prefix: string
  readonly anchor: string
  readonly until: () => string
  readonly signal: AbortSignal
  readonly made: Map<string, MadeObject>
  /** The gateways at which a scene deletes its objects. */
  readonly managed: readonly Managing[]
}

/** Runs scene after scene. @throws RunEnded, GatewayRefusal */
export async function writeAsMany(parts: ManyWritersParts): Promise<never> {
  const { record, made, anchor, managed, signal, interval, writers } = parts
  for (let number = 1; ; number++) {
    const history = await new RunningScene(parts, number).run()
    judge(history, record, writers.length)
    const own = [...made.values()].filter(({ name }) => name !== anchor)
    const pace = new Pace(interval / writers.length)
    await removeAll(own, { places: managed, pace, signal, patience: 0, made })
    await pause(0, signal)
  }
}

function judge(history: readonly Operation[], record: RunRecord, writers: number): void {
  const { operations, unchecked, disorders } = checkHistory(history)
  const before = record.histories ?? { writers, scenes: 0, operations: 0, unchecked: 0 }
  record.histories = {
    writers,
    scenes: before.scenes + 1,
    operations: before.operations + operations,
    unchecked: before.unchecked + unchecked,
  }
  for (const disorder of disorders) report(disorder, record)
}

function report(disorder: Disorder, record: RunRecord): void {
  const { operation, operations } = disorder
  const { invocation, answer, place, began, ended, requestId } = operation
  const before = operations.findLast((each) => each.writes && each.ended < began) ?? operation
  const write = { operation: before.invocation.kind, place: before.place, requestId: before.requestId }
  record.violation({
    kind: 'no_order',
    subject: invocationText(invocation),
    read: { place, began, ended, answer: answer === null ? '' : answerText(answer), requestId },
    write: { ...write, began: before.began, answered: before.ended },
    expected: possibleAnswers(disorder),
    operations: disorderText(disorder, began - record.sinceStart(began)).split('\n'),
  })
}

class RunningScene {
  readonly #parts: ManyWritersParts
  readonly #scene: Scene
  readonly #name: string
  readonly #history: Operation[] = []
  /** The credentials of the callers. */
  readonly #credentials: { readonly invocation: Invocation; readonly credential: Credential }[] = []
  readonly #over = new AbortController()
  /** A controller that is aborted at each 2xx, so that callers ask at once. */
  #written = new AbortController()

  constructor(parts: ManyWritersParts, number: number) {
    this.#parts = parts
    this.#name = `${parts.prefix}${number}`
    this.#scene = new Scene(
      NAMES.map((name) => `${this.#name}-${name}`),
      parts.anchor,
    )
  }

  /** Runs the scene. Resolves when nothing is in flight. @throws GatewayRefusal */
  async run(): Promise<readonly Operation[]> {
    const { writers, readPlaces, readers, record } = this.#parts
    await this.#mintTokens()
    record.beginReads()
    const reading = readPlaces.flatMap((place) => Array.from({ length: readers }, () => this.#read(place)))
    const writing = writers.map((places, at) => this.#write(places, `writer ${at + 1}`))
    try {
      await Promise.all(writing)
    } finally {
      this.#over.abort()
      this.#written.abort()
      await Promise.allSettled([...writing, ...reading])
    }
    return this.#history
  }

  async #mintTokens(): Promise<void> {
    const { tokens } = this.#parts
    const [a = '', b = '', c = ''] = this.#scene.names
    for (const names of tokens === null ? [] : [[a], [b], [c], [a, b], [b, c], [a, b, c]]) {
      const invocation = { kind: 'decide by token', names, permission: NEEDED } as const
      const text = (await tokens?.mintFor(names)) ?? ''
      this.#credentials.push({
        invocation,
        credential: { kind: 'token', text, name: '', use: 0, session: null },
      })
    }
  }

  async #write(places: readonly WritePlace<CycleRequest>[], by: string): Promise<void> {
    const { interval, signal } = this.#parts
    const pace = new Pace(interval)
    for (let count = 0; count < QUESTIONS && this.#history.length < MOST_OPERATIONS; count++) {
      try {
        // A random pause keeps the writers from asking at the same moments.
        await pause(Math.random() * Math.min(interval, READ_EVERY), signal)
        await pace.turn(signal)
      } catch (cause) {
        if (cause instanceof RunEnded) return
        throw cause
      }
      const place = places[Math.floor(Math.random() * places.length)]
      if (place !== undefined) await this.#ask(place, by)
    }
  }

  async #ask(place: WritePlace<CycleRequest>, by: string): Promise<void> {
    const { space, until, record } = this.#parts
    const invocation = this.#scene.next(Math.random) as AdministratorInvocation
    const sent = requestOf(invocation, { space, keyName: `${this.#name}-key`, expiresAt: until() })
    const began = performance.now()
    const operation = { invocation, began, by, place: place.name }
    try {
      const answer = await place.send<{ readonly key?: string } | undefined>(sent)
      const ended = performance.now()
      const { requestId } = answer
      const result = answerOf(invocation, answer)
      this.#history.push({ ...operation, ended, requestId, answer: result })
      if (mayChange(invocation))
        record.wrote({ operation: invocation.kind, place: place.name, began, answered: ended, requestId })
      this.#learn(invocation, result, answer.value?.key)
    } catch (cause) {
      const ended = performance.now()
      const code = cause instanceof GatewayRefusal && isRefused(cause.problem) ? cause.problem.code : null
      if (code !== null && !isExpected(code)) throw cause
      const requestId = cause instanceof GatewayRefusal ? cause.problem.requestId : ''
      if (code !== null) {
        this.#history.push({ ...operation, ended, requestId, answer: { code } })
        this.#scene.learn(invocation, { code })
        return
      }
      this.#history.push({ ...operation, ended: Infinity, requestId, answer: null })
      if (mayChange(invocation))
        record.unanswered(cause instanceof GatewayRefusal ? cause.problem.code : unansweredAs(cause))
    }
  }

  #learn(invocation: AdministratorInvocation, answer: Answer, text: string | undefined): void {
    const { made } = this.#parts
    this.#scene.learn(invocation, answer)
    const { id, name } = answer
    if (invocation.kind === 'create Seat' && id !== undefined)
      made.set(id, { kind: 'seat', id, name: name ?? '' })
    for (const change of answer.changes ?? [])
      made.set(change.id, { kind: 'seat', id: change.id, name: change.name })
    if (invocation.kind === 'delete Seat' || invocation.kind === 'revoke key') made.delete(invocation.id)
    if (invocation.kind === 'create key' && id !== undefined && text !== undefined) {
      made.set(id, { kind: 'api-key', id, name: `${this.#name}-key` })
      this.#credentials.push({
        invocation: { kind: 'decide by key', id, permission: NEEDED },
        credential: { kind: 'key', text, id, seatId: '' },
      })
    }
    if (!mayChange(invocation)) return
    this.#written.abort()
    this.#written = new AbortController()
  }

  async #read(place: PlaceClient): Promise<void> {
    const { record } = this.#parts
    const isOver = () => this.#over.signal.aborted || this.#history.length >= MOST_OPERATIONS
    while (!isOver()) {
      const { signal: written } = this.#written
      const chosen = this.#credentials[Math.floor(Math.random() * this.#credentials.length)]
      const began = performance.now()
      if (chosen !== undefined) {
        const answer = await place.ask(chosen.credential)
        const ended = performance.now()
        if (answer.answer === null) record.undecided(place.name, answer.reason)
        else {
          const { requestId } = answer
          record.decided({ place: place.name, began, requestId })
          const { invocation } = chosen
          this.#history.push({
            invocation,
            answer: { code: answer.answer },
            began,
            ended,
            by: 'caller',
            place: place.name,
            requestId,
          })
        }
      }
      const rest = READ_EVERY * (0.5 + Math.random()) - (performance.now() - began)
      if (!written.aborted && !this.#over.signal.aborted)
        await sleep(Math.max(0, rest), undefined, { signal: written }).catch(() => {})
    }
  }
}
