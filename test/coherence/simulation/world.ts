/** One simulated fleet and its store, for the duration of one schedule. */

import { LEASE, MARGIN } from '../../../src/coherence/lease.ts'
import { perform } from './actions.ts'
import { type Candidate, Database } from './database.ts'
import type { Committed } from '../../../seats-admin/model/change.ts'
import type { PushedTables } from '../../../seats-admin/model/pushed-tables.ts'
import type { OpenCounts, ReachedInstance } from '../../../seats-admin/model/revocation.ts'
import type { Decider } from './decider.ts'
import { type Figures, zeroFigures } from './figures.ts'
import { Gateway } from './gateway.ts'
import { NO_FAULTS, type Context } from './context.ts'
import type { Parts } from './parts.ts'
import { Machine, Process } from './process.ts'
import { Random } from '../../support/random.ts'
import { ModelTrace } from './model-trace.ts'
import { RedisModel } from './redis.ts'
import type { Schedule } from './schedule.ts'
import { StoreClient } from './store-client.ts'
import {
  OF_MEMBER,
  type Question,
  QUESTIONS,
  questionOfToken,
  questionsOfSession,
  recordsOf,
} from './questions.ts'
import { BLOCK, CUTOFFS, GRANT, GROUPS, RECORDS, type StoredRecord } from './records.ts'
import { type Content, filesOf } from './tables.ts'
import { Timeline } from './timeline.ts'
import { Checker } from './checker.ts'

/**
 * Milliseconds after the last fault within which the fleet recovers: a lost statement times out (2,000 by a slow clock),
 * and the next reading begins and ends.
 */
const RECOVERS_WITHIN = 2700

/** Milliseconds after which re-evaluation has repeated what failed before, by a slow clock. */
const SETTLES_WITHIN = 3000

/** The tables of the store in the beginning. */
const FIRST_TABLES = filesOf(0, 1)

export class World {
  readonly schedule: Schedule
  readonly parts: Parts
  readonly context: Context
  readonly database: Database
  readonly redis = new RedisModel()
  readonly checker: Checker
  readonly gateways: Gateway[] = []
  readonly figures: Figures = zeroFigures()
  #nextTag = 1_000_000
  /** Those of all sessions. */
  readonly #questions: Question[] = [...QUESTIONS]
  /** The live processes that cannot build a candidate, with the number of their lapses. */
  readonly #refusing = new Map<Candidate, ReadonlyMap<Decider, number>>()
  /** The answer to the newest revocation. */
  #reached: readonly ReachedInstance[] = []
  /** When the newest of the requests began that were answered with 503. */
  #unavailableSince = Number.NEGATIVE_INFINITY

  /**
   * @param chance second seed: the same schedule with other random numbers
   * @param forModel whether `context.model` tells what happens
   */
  constructor(
    schedule: Schedule,
    parts: Parts,
    trace: Context['trace'] = null,
    chance = 0,
    forModel = false,
  ) {
    const random = new Random(schedule.seed ^ 0x5bd1e995 ^ Math.imul(chance, 0x27d4eb2f))
    const timeline = new Timeline()
    this.schedule = schedule
    this.parts = parts
    const timed =
      trace === null ? null : (what: string) => trace(`${timeline.now.toFixed(2).padStart(8)} ${what}`)
    this.context = { timeline, random, conditions: schedule.conditions, trace: timed, model: null }
    this.database = new Database(this.context, schedule)
    this.checker = new Checker(this.database, timed)
    this.database.commit({ records: RECORDS.filter((record) => record !== BLOCK), deletes: [] })
    this.database.commit({ records: [GROUPS], deletes: [] })
    if (schedule.tablesInStore) this.database.beginTables(FIRST_TABLES)
    this.database.onTables = (step, candidate) => this.#onTables(step, candidate)
    if (!forModel) this.#questions.push(OF_MEMBER)
    if (forModel) this.context.model = new ModelTrace(this.database)
    for (const workers of schedule.gateways) this.begin(workers)
    for (const action of schedule.actions) timeline.after(action.at, null, () => perform(this, action))
  }

  /** Call it from a macrotask: see `microtasks.ts`. */
  run(): void {
    const { timeline } = this.context
    timeline.runUntil(this.schedule.end)
    this.#endFaults()
    timeline.runUntil(this.schedule.end + 5)
    if (this.schedule.checksRecovery) this.#checkRecovery()
    this.figures.removed += this.database.removed
    this.figures.events += timeline.events
    this.figures.schedules++
  }

  get deciders(): Decider[] {
    return this.gateways.flatMap(({ deciders }) => deciders)
  }

  begin(workers: number): void {
    const name = `g${this.gateways.length + 1}`
    this.context.trace?.(`${name} begins, with ${workers} workers`)
    this.gateways.push(new Gateway(this, name, workers))
  }

  /** Its memory is empty: these requests fill it, so that it can be stale. */
  opened(decider: Decider): void {
    this.context.trace?.(`${decider.process.name} opens`)
    for (const question of QUESTIONS) this.ask(decider, question, 100)
    if (this.#questions.includes(OF_MEMBER)) this.ask(decider, OF_MEMBER, 100)
    this.ask(decider, this.#questionOfToken(), 100)
  }

  /** A write has been acknowledged: all deciders get requests for its records at once, and some get more later. */
  answered(by: string, seq: number): void {
    const { random, trace } = this.context
    const records = this.database.changedBy(seq)
    trace?.(`${by} has answered ${records.map(({ id }) => id).join(' and ')} ${seq}`)
    this.checker.answered(records, seq)
    this.figures.writes++
    for (const decider of this.deciders) {
      decider.streams.expectEnds(records)
      if (random.chance(0.8)) this.ask(decider, this.questionOf(records))
      if (random.chance(0.4)) this.ask(decider, this.questionOf(records), random.pick([20, 400, 1200]))
      if (records.includes(CUTOFFS)) this.ask(decider, this.#questionOfToken())
    }
  }

  gatewayOf(decider: Decider): Gateway | undefined {
    return this.gateways.find(({ deciders }) => deciders.includes(decider))
  }

  /** Pushes tables at the gateway of the process. */
  push(
    decider: Decider,
    { content, isFirst }: { readonly content: Content; readonly isFirst: boolean },
  ): void {
    const gateway = this.gatewayOf(decider)
    if (gateway === undefined || gateway.primary.state !== 'running') return
    gateway.push(isFirst ? FIRST_TABLES : filesOf(content, this.nextTag()))
  }

  /** A push is answered. @param committed the activation, also of an earlier push of the same files */
  pushed(by: string, committed: Committed, { isSame, instances }: PushedTables): void {
    this.figures.pushes++
    this.figures.writes--
    this.answered(by, committed.seq)
    if (!isSame) this.revoked(by, committed, instances)
  }

  /** A live instance that cannot build a candidate says so, and it is not activated. */
  #onTables(step: 'proposed' | 'activated', candidate: Candidate): void {
    const refusing = this.deciders.filter(
      (each) => each.isOpen && each.lease.live() && this.gatewayOf(each)?.refuses(candidate.files) === true,
    )
    const before = this.#refusing.get(candidate)
    if (step === 'proposed')
      this.#refusing.set(candidate, new Map(refusing.map((each) => [each, each.lapses])))
    for (const each of step === 'activated' ? refusing : [])
      if (before?.get(each) === each.lapses)
        this.checker.report(
          'unprepared',
          `${each.process.name} cannot build ${JSON.stringify(candidate.files)}`,
        )
  }

  /** A client has a new session, with a token of the same moment: it counts everywhere. */
  signedIn({ session, seq }: { readonly session: StoredRecord; readonly seq: number }): void {
    this.checker.answered([session], seq)
    this.figures.signIns++
    const questions = questionsOfSession(session, this.#issuersNow)
    this.#questions.push(...questions)
    for (const decider of this.deciders)
      for (const question of questions) this.ask(decider, question, this.context.random.pick([3, 20, 400]))
  }

  /** A question that depends on one of the records. */
  questionOf(records: readonly StoredRecord[]): Question {
    const { random } = this.context
    const own = random.chance(0.3) ? [this.#questionOfToken()] : []
    const questions = [...own, ...this.#questions].filter((each) =>
      recordsOf(each).some((record) => records.includes(record)),
    )
    return questions.length === 0 ? this.#questionOfToken() : random.pick(questions)
  }

  #questionOfToken(): Question {
    return questionOfToken(this.context.random, this.#issuersNow)
  }

  /** Seconds by the clock of the issuers of tokens. */
  get #issuersNow(): number {
    return (this.context.timeline.now + this.schedule.issuersAhead) / 1000
  }

  /** A grant ends: by then, all streams that depend on it end in time. @param until true time, within the tolerance of clocks */
  grantEnds(until: number): void {
    const { timeline } = this.context
    timeline.after(Math.max(0, until - timeline.now), null, () => {
      for (const { streams } of this.deciders) streams.expectEnds([GRANT])
    })
  }

  /** What an instance says that it has cut is no longer open in any of its processes. */
  revoked(by: string, { seq }: Committed, reached: readonly ReachedInstance[]): void {
    const { trace } = this.context
    this.#reached = reached
    trace?.(
      `${by} has revoked ${seq}: ${reached.map(({ id, how, cut }) => `${id} ${how} ${total(cut)}`).join(', ')}`,
    )
    for (const { id, how, cut } of reached) {
      if (how === 'acknowledged' && cut !== null) this.figures.closed++
      else this.figures.partial++
      if (cut === null) continue
      const gateway = this.gateways.find(({ name }) => name === id)
      for (const { streams } of gateway?.deciders ?? []) streams.checkCut(seq)
    }
    const isClosed = reached.length > 0 && reached.every(({ cut }) => cut !== null)
    for (const { streams } of isClosed ? this.gateways.flatMap(({ deciders }) => deciders) : [])
      streams.checkCut(seq)
  }

  /** A request was answered with 503. @param begun simulated time */
  unavailable({ credential }: Question, begun: number): void {
    this.figures.unavailable++
    // A provider that is down refuses the renewal of a session, however well the fleet is.
    if (credential !== 'cookie') this.#unavailableSince = Math.max(this.#unavailableSince, begun)
  }

  /** For a renewal of the session: above those of commits. */
  nextTag(): number {
    return this.#nextTag++
  }

  /** A request to a frozen process waits in its socket, and begins when it is read. */
  ask(decider: Decider, question: Question, within = 3): void {
    const { timeline, random } = this.context
    timeline.after(random.between(0, within), decider.process, () => decider.request(question))
  }

  /** A write by a program that announces nothing, like `seatgate bootstrap`: it waits until no lease can be live. */
  writeFromOutside(record: StoredRecord): void {
    const process = new Process(this.context, new Machine(this.context, 'outside'), 'outside')
    const store = new StoreClient(this.database, process)
    store.write({ records: [record], deletes: [] }).then(
      (committed) =>
        process.clock.after(LEASE + MARGIN, () => {
          this.context.model?.answer(process, committed.seq)
          this.answered('outside', committed.seq)
        }),
      () => {},
    )
  }

  #endFaults(): void {
    this.context.trace?.('all faults are mended')
    this.context.conditions = NO_FAULTS
    for (const { machine, processes } of this.gateways) {
      machine.store.restore()
      machine.redis.restore()
      for (const process of processes) process.thaw()
    }
  }

  #checkRecovery(): void {
    const { timeline } = this.context
    // Renewals of the session go on.
    const { seq } = this.database.head
    timeline.runUntil(this.schedule.end + RECOVERS_WITHIN)
    this.checker.acknowledgeUpTo(seq)
    const open = this.deciders.filter(({ isOpen }) => isOpen)
    for (const { lease, process } of open)
      if (!lease.live()) this.checker.report('no lease', `${process.name} has none`)
    const asked = timeline.now
    // One that cannot build the active tables decides nothing.
    const { files } = this.database.tables
    const deciding = open.filter((each) => this.gatewayOf(each)?.refuses(files) !== true)
    for (const decider of deciding)
      for (const question of QUESTIONS) if (question.credential !== 'cookie') this.ask(decider, question)
    timeline.runUntil(timeline.now + 50)
    // A request from before may still wait for a response that was lost.
    if (this.#unavailableSince >= asked) this.checker.report('no lease', 'a request was refused')
    timeline.runUntil(timeline.now + SETTLES_WITHIN)
    for (const { streams, isOpen } of this.deciders) if (isOpen) streams.checkAll()
    // A reading without changes does not show the revocation. Renewals of the session take their places too.
    if (this.schedule.kept > 10) this.#checkRevocation()
  }

  /** Without faults, each gateway that serves says what it has cut. */
  #checkRevocation(): void {
    const { timeline } = this.context
    const { files } = this.database.tables
    const serving = this.gateways.filter(
      (each) => !each.refuses(files) && each.deciders.some(({ isOpen }) => isOpen),
    )
    this.#reached = []
    const [decider] = serving.flatMap(({ deciders }) => deciders.filter(({ isOpen }) => isOpen))
    if (decider === undefined) return
    decider.revoke({ subject: 'user', blocks: false, lists: true })
    timeline.runUntil(timeline.now + SETTLES_WITHIN)
    for (const { name } of serving)
      if (!this.#reached.some(({ id, how, cut }) => id === name && how === 'acknowledged' && cut !== null))
        this.checker.report('late', `${name} has not said what it has cut`)
  }
}

function total(cut: OpenCounts | null): string {
  return cut === null ? '?' : `${cut.websockets + cut.streams + cut.requests}`
}
