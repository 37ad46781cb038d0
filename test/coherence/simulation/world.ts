/** One simulated fleet and its store, for the duration of one schedule. */

import { LEASE, MARGIN } from '../../../src/coherence/lease.ts'
import { perform } from './actions.ts'
import { Database } from './database.ts'
import type { Decider, Question } from './decider.ts'
import { type Figures, zeroFigures } from './figures.ts'
import { Gateway } from './gateway.ts'
import { NO_FAULTS, type Context } from './context.ts'
import type { Parts } from './parts.ts'
import { Machine, Process } from './process.ts'
import { Random } from '../../support/random.ts'
import { RedisModel } from './redis.ts'
import type { Schedule } from './schedule.ts'
import { StoreClient } from './store-client.ts'
import { KEY, RECORDS, SEATS, type StoredRecord } from './records.ts'
import { Timeline } from './timeline.ts'
import { Checker } from './checker.ts'

/**
 * Milliseconds after the last fault within which the fleet recovers: a lost statement times out (2,000 by a slow clock),
 * and the next reading begins and ends.
 */
const RECOVERS_WITHIN = 2700

export class World {
  readonly schedule: Schedule
  readonly parts: Parts
  readonly context: Context
  readonly database: Database
  readonly redis = new RedisModel()
  readonly checker: Checker
  readonly gateways: Gateway[] = []
  readonly figures: Figures = zeroFigures()

  /** @param chance second seed: the same schedule with other random numbers */
  constructor(schedule: Schedule, parts: Parts, trace: Context['trace'] = null, chance = 0) {
    const random = new Random(schedule.seed ^ 0x5bd1e995 ^ Math.imul(chance, 0x27d4eb2f))
    const timeline = new Timeline()
    this.schedule = schedule
    this.parts = parts
    const timed =
      trace === null ? null : (what: string) => trace(`${timeline.now.toFixed(2).padStart(8)} ${what}`)
    this.context = { timeline, random, conditions: schedule.conditions, trace: timed }
    this.database = new Database(random, schedule)
    this.checker = new Checker(this.database, timed)
    for (const record of RECORDS) this.database.commit(record, false)
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
    for (const seat of SEATS) {
      this.ask(decider, { key: null, seat })
      this.ask(decider, { key: KEY, seat }, 100)
    }
  }

  /** A write has been acknowledged: all deciders get requests for its record at once, and some get more later. */
  answered(by: string, record: StoredRecord, seq: number): void {
    const { random, trace } = this.context
    trace?.(`${by} has answered ${record.id} ${seq}`)
    this.checker.answered(record, seq)
    this.figures.writes++
    for (const decider of this.deciders) {
      if (random.chance(0.8)) this.ask(decider, questionOf(random, record))
      if (random.chance(0.4)) this.ask(decider, questionOf(random, record), random.pick([20, 400, 1200]))
    }
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
    store.write(record, false, 0).then(
      ({ seq }) => process.clock.after(LEASE + MARGIN, () => this.answered('outside', record, seq)),
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
    timeline.runUntil(this.schedule.end + RECOVERS_WITHIN)
    this.checker.acknowledgeAll()
    const open = this.deciders.filter(({ isOpen }) => isOpen)
    for (const { lease, process } of open)
      if (!lease.live()) this.checker.report('no lease', `${process.name} has none`)
    const before = this.figures.unavailable
    for (const decider of open)
      for (const seat of SEATS) for (const key of [KEY, null]) this.ask(decider, { key, seat })
    timeline.runUntil(timeline.now + 50)
    if (this.figures.unavailable > before) this.checker.report('no lease', 'a request was refused')
  }
}

/** A question that depends on the record. */
export function questionOf(random: Random, record: StoredRecord): Question {
  if (record.kind === 'api-key') return { key: record, seat: random.pick(SEATS) }
  if (record.kind !== 'seat') return { key: null, seat: random.pick(SEATS) }
  return { key: random.chance(0.5) ? KEY : null, seat: record }
}
