/** One simulated fleet and its store, from the beginning of a schedule to its end. */

import { LEASE, MARGIN } from '../../../src/coherence/lease.ts'
import { perform } from './actions.ts'
import { Database } from './database.ts'
import type { Decider, Question } from './decider.ts'
import { type Figures, noFigures } from './figures.ts'
import { Gateway } from './gateway.ts'
import { FAIR, type Nature } from './nature.ts'
import type { Parts } from './parts.ts'
import { Machine, Process } from './process.ts'
import { Random } from './random.ts'
import { RedisModel } from './redis.ts'
import type { Schedule } from './schedule.ts'
import { StoreClient } from './store-client.ts'
import { type Thing, THINGS } from './things.ts'
import { Timeline } from './timeline.ts'
import { Witness } from './witness.ts'

/**
 * Milliseconds after the last fault in which all is well: a statement that was lost is given up (2,000 by a slow
 * clock), the next reading begins, and ends.
 */
const WELL_WITHIN = 2700

export class World {
  readonly schedule: Schedule
  readonly parts: Parts
  readonly nature: Nature
  readonly database: Database
  readonly redis = new RedisModel()
  readonly witness: Witness
  readonly gateways: Gateway[] = []
  readonly figures: Figures = noFigures()

  /** @param chance further seed, for the same schedule in another way */
  constructor(schedule: Schedule, parts: Parts, trace: Nature['trace'] = null, chance = 0) {
    const random = new Random(schedule.seed ^ 0x5bd1e995 ^ Math.imul(chance, 0x27d4eb2f))
    const timeline = new Timeline()
    this.schedule = schedule
    this.parts = parts
    const timed =
      trace === null ? null : (what: string) => trace(`${timeline.now.toFixed(2).padStart(8)} ${what}`)
    this.nature = { timeline, random, weather: schedule.weather, trace: timed }
    this.database = new Database(random, schedule.kept)
    this.witness = new Witness(this.database, timed)
    for (const thing of THINGS) this.database.commit(thing, false)
    for (const workers of schedule.gateways) this.begin(workers)
    for (const action of schedule.actions) timeline.after(action.at, null, () => perform(this, action))
  }

  /** Call it from a macrotask: see `microtasks.ts`. */
  run(): void {
    const { timeline } = this.nature
    timeline.runUntil(this.schedule.end)
    this.#heal()
    timeline.runUntil(this.schedule.end + 5)
    if (this.schedule.looksOn) this.#lookOn()
    this.figures.removed += this.database.removed
    this.figures.events += timeline.events
    this.figures.schedules++
  }

  get deciders(): Decider[] {
    return this.gateways.flatMap(({ deciders }) => deciders)
  }

  begin(workers: number): void {
    const name = `g${this.gateways.length + 1}`
    this.nature.trace?.(`${name} begins, with ${workers} workers`)
    this.gateways.push(new Gateway(this, name, workers))
  }

  /** Its memory is empty: let it have something to be wrong about. */
  opened(decider: Decider): void {
    this.nature.trace?.(`${decider.process.name} opens`)
    for (const seat of SEATS) {
      this.ask(decider, { key: null, seat })
      this.ask(decider, { key: KEY, seat }, 100)
    }
  }

  /** A write has been answered: everybody is asked at once what it changed, and some again later. */
  answered(by: string, thing: Thing, seq: number): void {
    const { random, trace } = this.nature
    trace?.(`${by} has answered ${thing.id} ${seq}`)
    this.witness.answered(thing, seq)
    this.figures.writes++
    for (const decider of this.deciders) {
      if (random.chance(0.8)) this.ask(decider, questionOf(random, thing))
      if (random.chance(0.4)) this.ask(decider, questionOf(random, thing), random.pick([20, 400, 1200]))
    }
  }

  /** The request waits in the socket as long as the process is frozen, and begins when it is read. */
  ask(decider: Decider, question: Question, within = 3): void {
    const { timeline, random } = this.nature
    timeline.after(random.between(0, within), decider.process, () => decider.request(question))
  }

  /** Of a program that knows of no gateways, like `seatgate bootstrap`: it waits as long as a lease may last. */
  writeFromOutside(thing: Thing): void {
    const process = new Process(this.nature, new Machine(this.nature, 'outside'), 'outside')
    const store = new StoreClient(this.nature, this.database, process)
    store.write(thing, false, 0).then(
      ({ seq }) => process.clock.after(LEASE + MARGIN, () => this.answered('outside', thing, seq)),
      () => {},
    )
  }

  #heal(): void {
    this.nature.trace?.('all faults are mended')
    this.nature.weather = FAIR
    for (const { machine, processes } of this.gateways) {
      machine.store.mend()
      machine.redis.mend()
      for (const process of processes) process.thaw()
    }
  }

  #lookOn(): void {
    const { timeline } = this.nature
    timeline.runUntil(this.schedule.end + WELL_WITHIN)
    this.witness.everythingCounts()
    const open = this.deciders.filter(({ isOpen }) => isOpen)
    for (const { lease, process } of open)
      if (!lease.live()) this.witness.complain('no lease', `${process.name} has none`)
    const before = this.figures.unavailable
    for (const decider of open) for (const seat of SEATS) this.ask(decider, { key: KEY, seat })
    timeline.runUntil(timeline.now + 50)
    if (this.figures.unavailable > before) this.witness.complain('no lease', 'a request was refused')
  }
}

const SEATS = THINGS.filter(({ kind }) => kind === 'seat')
const [KEY = null] = THINGS.filter(({ kind }) => kind === 'api-key')

/** One whose answer rests on the thing. */
export function questionOf(random: Random, thing: Thing): Question {
  if (thing.kind === 'api-key') return { key: thing, seat: random.pick(SEATS) }
  return { key: random.chance(0.5) ? KEY : null, seat: thing }
}
