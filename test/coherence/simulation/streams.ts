/** The requests of one process that have not ended, which the product's re-evaluation watches. */

import type { Changes } from '../../../src/pipeline/pending-changes.ts'
import type { OpenExchange } from '../../../src/pipeline/open-exchange.ts'
import type { OpenExchanges, ReevaluationClock } from '../../../src/pipeline/reevaluation.ts'
import type { Evaluation } from '../../../src/model/decision.ts'
import type { Refusal } from '../../../src/model/errors.ts'
import type { Clock } from '../../../src/coherence/clock.ts'
import type { Floor } from './checker.ts'
import type { Decider } from './decider.ts'
import { type Question, recordsOf } from './questions.ts'
import type { StoredRecord } from './records.ts'
import type { World } from './world.ts'

/** Milliseconds within which a stream that is no longer allowed ends (docs/websockets.md). */
const ENDS_WITHIN = 2000
/** Milliseconds of a decision beyond which the store counts as unreadable: a stream may then stay open for longer. */
const SLOW = 100
/** Milliseconds after such a decision in which it may still delay another one: it is repeated after two seconds. */
const DELAYED = 2700
/** Codes of a credential that a revocation has ended. */
const VOID: ReadonlySet<string> = new Set(['token_revoked', 'api_key_revoked'])
/** The probability that an allowed request stays open. */
const STAYS = 0.25

export class Stream implements OpenExchange {
  readonly question: Question
  readonly startedAt: number
  /** Before its decision. */
  readonly floor: Floor
  evaluation: Evaluation | null = null
  refusal: Refusal | null = null
  /** Simulated time of its decision. */
  decidedAt = Infinity
  /** Whether it is being decided. */
  isEvaluated = true
  /** Whether its last decision failed: it stays open then. */
  hasFailed = false
  /** Simulated time of its last decision again that failed or was slow. */
  troubledAt = Number.NEGATIVE_INFINITY

  constructor(question: Question, startedAt: number, floor: Floor) {
    this.question = question
    this.startedAt = startedAt
    this.floor = floor
  }
}

export class Streams implements OpenExchanges<Stream> {
  readonly inFlight = new Set<Stream>()
  readonly isEventStream = () => false
  readonly kindOf = () => 'streams' as const
  readonly #world: World
  readonly #decider: Decider
  readonly #reevaluation: ReturnType<World['parts']['reevaluation']>
  #reloads = 0

  constructor(world: World, decider: Decider, changes: Changes) {
    this.#world = world
    this.#decider = decider
    this.#reevaluation = world.parts.reevaluation(changes, this, clockOf(decider.process.clock))
    this.#reevaluation.start()
  }

  begin(question: Question): void {
    const { figures, context, checker } = this.#world
    const stream = new Stream(question, this.#decider.process.clock.now(), checker.floor)
    const begun = context.timeline.now
    this.inFlight.add(stream)
    figures.requests++
    const ended = (evaluation: Evaluation | null) => {
      const isAllowed = evaluation !== null && evaluation.refusal === null
      if (evaluation === null || (evaluation.refusal?.status ?? 0) >= 500)
        this.#world.unavailable(question, begun)
      if (!isAllowed || !context.random.chance(STAYS)) this.inFlight.delete(stream)
      else {
        stream.evaluation = evaluation
        stream.decidedAt = context.timeline.now
        figures.streams++
      }
    }
    const evaluation = this.#evaluate(stream, true)
    if (evaluation instanceof Promise) evaluation.then(ended, () => ended(null))
    else ended(evaluation)
  }

  /** Its connections are closed. */
  end(): void {
    this.#reevaluation.stop()
    this.inFlight.clear()
  }

  reevaluate(stream: Stream): Evaluation | Promise<Evaluation> {
    return this.#evaluate(stream, false)
  }

  reevaluated(): void {
    this.#world.figures.reevaluated++
  }

  revoke(stream: Stream, refusal: Refusal): void {
    stream.refusal = refusal
    this.inFlight.delete(stream)
    if (VOID.has(refusal.code))
      this.#world.checker.checkEnded(this.#decider.process.name, stream.floor, stream.question)
    this.#world.figures.cut++
  }

  reloaded(): void {
    this.#reloads++
    this.#reevaluation.reloaded()
    this.expectEnds(null)
  }

  /**
   * From now on, streams that are no longer allowed end in time, if the process runs and the store can be read.
   *
   * @param changed records of an acknowledged write; null: all
   */
  expectEnds(changed: readonly StoredRecord[] | null): void {
    const { context, checker } = this.#world
    const { process } = this.#decider
    const { freezes } = process
    const { floor } = checker
    const reloads = this.#reloads
    const since = context.timeline.now
    const concerned = [...this.inFlight].filter(
      ({ question }) => changed === null || recordsOf(question).some((record) => changed.includes(record)),
    )
    if (concerned.length === 0 || process.state !== 'running') return
    context.timeline.after(ENDS_WITHIN, process, () => {
      if (process.freezes !== freezes || this.#reloads !== reloads) return
      // Without a lease it could not read the store: it registers again, and the answer is lost. It cuts once it reads.
      if (!this.#decider.isOpen || !this.#decider.lease.live()) return
      for (const stream of concerned)
        if (stream.decidedAt < since + SLOW && stream.troubledAt < since - DELAYED)
          this.#checkOpen(stream, floor, since)
    })
  }

  /** Every write is acknowledged, and known everywhere: no stream is open that is not allowed now. */
  checkAll(): void {
    for (const stream of this.inFlight)
      this.#checkOpen(stream, this.#world.checker.floor, this.#world.context.timeline.now)
  }

  /** The process has said that it has cut what the revocation with this number concerns. */
  checkCut(seq: number): void {
    for (const { question, evaluation } of this.inFlight)
      if (evaluation !== null)
        this.#world.checker.checkCut(this.#decider.process.name, seq, question, evaluation.decision)
  }

  /** @param since true time */
  #checkOpen(stream: Stream, floor: Floor, since: number): void {
    const { process, permission } = this.#decider
    if (!this.inFlight.has(stream) || stream.isEvaluated || stream.hasFailed) return
    const moment = this.#decider.momentSince(since)
    this.#world.checker.checkOpen(process.name, floor, stream.question, permission, moment)
  }

  #evaluate(stream: Stream, isNew: boolean): Evaluation | Promise<Evaluation> {
    const { timeline } = this.#world.context
    const begun = timeline.now
    const evaluation = this.#decider.evaluate(stream.question, isNew)
    stream.isEvaluated = evaluation instanceof Promise
    stream.hasFailed = false
    if (!(evaluation instanceof Promise)) return evaluation
    const note = (isDecided: boolean) => {
      stream.isEvaluated = false
      stream.hasFailed = !isDecided
      const isSlow = timeline.now - begun > SLOW
      if (stream.evaluation !== null && (isSlow || !isDecided)) stream.troubledAt = timeline.now
    }
    evaluation.then(
      ({ refusal }) => note((refusal?.status ?? 0) < 500),
      () => note(false),
    )
    return evaluation
  }
}

function clockOf({ now, wall, after }: Clock): ReevaluationClock {
  return {
    now,
    wall,
    every(ms, run) {
      let cancel = () => {}
      const next = () => {
        cancel = after(ms, () => {
          next()
          run()
        })
      }
      next()
      return () => cancel()
    },
    after: (ms, run) => void after(ms, run),
  }
}
