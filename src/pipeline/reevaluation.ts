/**
 * Re-evaluates open WebSockets and long requests after a change of a Seat, key, session, block, group or
 * grant that their decision depends on, after their credential expires, and when a grant begins or ends.
 * `refusals.ts` cuts what is no longer allowed. One instance a process; each process receives the changes of
 * all writers.
 *
 * A check every half second costs almost nothing without changes. An exchange that a change of a Seat, a
 * group or a grant concerns becomes pending, and is evaluated again under the current configuration once it
 * is a second old; most requests end before. A change of a key, session or block is checked at once, and what
 * it concerns is evaluated again at once, however young. A revocation cuts at once, without an evaluation,
 * what it has certainly ended (`revocation-cut.ts`).
 *
 * While the store can't be asked, pending exchanges stay open and pending: no decision against them is known,
 * and nothing new is allowed.
 */

import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { NOTHING_OPEN, type OpenCounts } from '../../seats-admin/model/revocation.ts'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Decision, Evaluation } from '../model/decision.ts'
import { needsPermission } from '../model/route.ts'
import {
  credentialChanged,
  grantsChanged,
  hasExpired,
  type OpenExchange,
  seatsChanged,
} from './open-exchange.ts'
import type { Changed, Changes } from './pending-changes.ts'
import { concernOf, type RevokedCommit } from './revocation-cut.ts'

/** Milliseconds between checks. */
const CHECK_EVERY = 500
/** Milliseconds: the age at which an exchange is re-evaluated. */
const MIN_AGE = 1000
/** Milliseconds until an evaluation that failed is tried again. */
const RETRY_AFTER = 2000
/** Exchanges that are evaluated or cut before other events run. */
const BATCH = 100
/**
 * The multiple of the duration of a check that passes before the next one, unless a revocation arrives:
 * sessions that are renewed in large numbers, which a change does not tell from ended ones, take a twentieth
 * of the time.
 */
const REST = 19

/** The functions of the pipeline that re-evaluation uses. */
export interface OpenExchanges<E extends OpenExchange = Exchange> {
  /** The response is a stream of events, which the gateway makes. */
  isEventStream(exchange: E): boolean
  /** What the exchange counts as in the answer to a revocation. */
  kindOf(exchange: E): keyof OpenCounts
  /** Exchanges that have not ended. */
  readonly inFlight: Iterable<E> & { has(exchange: E): boolean }
  /** Evaluates the same request under the current configuration. */
  reevaluate(exchange: E): Evaluation | Promise<Evaluation>
  /** The request is no longer allowed. */
  revoke(exchange: E, refusal: Refusal): void
  /** @param code that of the new decision */
  reevaluated(code: string): void
}

/** Time as re-evaluation uses it, so that a simulation can control it. */
export interface ReevaluationClock {
  /** Monotonic ms, of the same origin as {@link Exchange.startedAt}. */
  now(): number
  /** ms since the epoch */
  wall(): number
  /** Runs `run` every `ms`; the result ends that. Does not keep the process alive. */
  every(ms: number, run: () => void): () => void
  /**
   * Runs `run` once after `ms`, and after the current turn of the event loop. Does not keep the process
   * alive.
   */
  after(ms: number, run: () => void): void
}

const systemClock: ReevaluationClock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  every(ms, run) {
    const timer = setInterval(run, ms).unref()
    return () => clearInterval(timer)
  },
  after(ms, run) {
    if (ms > 0) setTimeout(run, ms).unref()
    else setImmediate(run).unref()
  },
}

const otherCaller = new Refusal('token_invalid', 'The credential now identifies another caller.')

const revokedToken = new Refusal('token_revoked', 'A revocation has voided the credential.')

const revokedKey = new Refusal('api_key_revoked', 'The API key has been revoked.')

/** `unknown`: the store, or an identity provider, can't be asked. */
type Result = 'kept' | 'cut' | 'unknown'

const otherSpace = new Refusal('space_conflict', 'The request now belongs to another space.')

export class Reevaluation<E extends OpenExchange = Exchange> {
  readonly #changes: Changes
  readonly #exchanges: OpenExchanges<E>
  readonly #clock: ReevaluationClock
  /** Exchange → monotonic ms from which it is due. */
  readonly #pending = new Map<E, number>()
  /** Exchange → its evaluation in flight. */
  readonly #evaluating = new Map<E, Promise<Result>>()
  #cancel = (): void => {}
  #reloaded = false
  #running = false
  /** Whether exchanges became due while the others were evaluated. */
  #again = false
  /** Monotonic ms of the check that changes have started; Infinity: none. */
  #nextCheck = Number.POSITIVE_INFINITY
  /** Monotonic ms before which changes start no check. */
  #restsUntil = 0

  constructor(changes: Changes, exchanges: OpenExchanges<E>, clock = systemClock) {
    this.#changes = changes
    this.#exchanges = exchanges
    this.#clock = clock
  }

  /** To be called before an exchange is open. */
  start(): void {
    this.#cancel = this.#clock.every(CHECK_EVERY, () => this.#check())
    // Nothing is open that these changes concern.
    this.#changes.sinceLastCheck()
    this.#changes.onUrgent(() => this.#checkSoon())
  }

  stop(): void {
    this.#cancel()
  }

  /** Another configuration is active. A secret may be gone, and a public route may require a credential. */
  reloaded(): void {
    this.#reloaded = true
  }

  /** Once for all changes of a turn of the event loop, or of a rest. */
  #checkSoon(): void {
    const at = this.#changes.hasNotice ? Number.NEGATIVE_INFINITY : this.#restsUntil
    if (this.#nextCheck <= at) return
    this.#nextCheck = at
    this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#nextCheck = Number.POSITIVE_INFINITY
      if (this.#changes.areUrgent) this.#check()
    })
  }

  #check(): void {
    const begun = this.#clock.now()
    const changed = this.#changes.sinceLastCheck()
    const wall = this.#clock.wall()
    const revoked = (changed?.revoked ?? []).map((commit) => new Revoked<E>(commit))
    const tables = changed?.tables ?? []
    const decided: E[] = []
    // They are decided again at once, not when they are due.
    if (tables.length > 0) this.#reloaded = false
    for (const exchange of this.#exchanges.inFlight) {
      for (const each of revoked) each.look(exchange)
      this.#setDue(exchange, changed, begun, wall)
      if (tables.length > 0 && exchange.evaluation !== null) decided.push(exchange)
    }
    this.#reloaded = false
    for (const each of revoked) void this.#cut(each)
    if (tables.length > 0) void this.#decideByTables(tables, decided)
    if (this.#pending.size > 0) void this.#evaluatePending()
    const now = this.#clock.now()
    this.#restsUntil = now + REST * (now - begun)
  }

  /**
   * @param now monotonic ms
   * @param wall ms since the epoch
   */
  #setDue(exchange: E, changed: Changed | null, now: number, wall: number): void {
    const due = exchange.startedAt + MIN_AGE
    // An evaluation in flight may have read the state before the change.
    const isUndecided = exchange.evaluation === null || this.#evaluating.has(exchange)
    if (this.#reloaded || (changed !== null && (isUndecided || seatsChanged(exchange, changed))))
      this.#becomesPending(exchange, due)
    if (changed !== null && credentialChanged(exchange, changed))
      this.#becomesPending(exchange, changed.all ? due : Number.NEGATIVE_INFINITY)
    else if (this.#pending.has(exchange)) return
    else if (hasExpired(exchange, wall) || grantsChanged(exchange, now, wall))
      this.#becomesPending(exchange, due)
  }

  #becomesPending(exchange: E, due: number): void {
    this.#pending.set(exchange, Math.min(due, this.#pending.get(exchange) ?? due))
  }

  /** Cuts what a revocation has ended, and says how much that was. */
  async #cut({ commit, ended, perhaps }: Revoked<E>): Promise<void> {
    const { counts, count, isKnown } = tally()
    for (const [at, exchange] of ended.entries()) {
      if (at % BATCH === BATCH - 1) await nextTurn()
      if (!this.#isCandidate(exchange)) continue
      count(this.#exchanges.kindOf(exchange), commit.isCount ? 'cut' : this.#revoke(exchange))
    }
    await this.#decideAll(perhaps, count)
    this.#changes.hasCut(commit.mark, isKnown() ? counts : null)
  }

  /**
   * Decides what is open by tables that are active now. A request that is not decided yet passes their stages.
   *
   * @param marks those of the activations
   */
  async #decideByTables(marks: readonly number[], exchanges: readonly E[]): Promise<void> {
    const { counts, count, isKnown } = tally()
    await this.#decideAll(exchanges, count)
    for (const mark of marks) this.#changes.hasCut(mark, isKnown() ? counts : null)
  }

  /** Decides some at once. One that waits for an identity provider does not hold up the others. */
  async #decideAll(
    exchanges: readonly E[],
    decided: (kind: keyof OpenCounts, result: Result) => void,
  ): Promise<void> {
    const rest = exchanges.entries()
    let turn: Promise<unknown> = Promise.resolve()
    const decideOneByOne = async () => {
      for (const [at, exchange] of rest) {
        if (at % BATCH === BATCH - 1) turn = turn.then(() => nextTurn())
        await turn
        const kind = this.#exchanges.kindOf(exchange)
        decided(kind, await this.#decideNow(exchange))
      }
    }
    await Promise.all(Array.from({ length: BATCH }, decideOneByOne))
  }

  /** Ends an exchange whose credential is void. */
  #revoke(exchange: E): Result {
    const isKey = exchange.evaluation?.decision.principal?.method === 'api-key'
    const refusal = isKey ? revokedKey : revokedToken
    try {
      this.#exchanges.reevaluated(refusal.code)
      this.#exchanges.revoke(exchange, refusal)
      return 'cut'
    } catch {
      return this.#retryLater(exchange)
    }
  }

  /** An evaluation in flight may have read the state before the revocation. */
  async #decideNow(exchange: E): Promise<Result> {
    while (this.#evaluating.has(exchange)) await this.#evaluating.get(exchange)
    return this.#isCandidate(exchange) ? this.#decide(exchange) : 'kept'
  }

  async #evaluatePending(): Promise<void> {
    this.#again = true
    if (this.#running) return
    this.#running = true
    let evaluated = 0
    while (this.#again) {
      this.#again = false
      for (const [exchange, due] of this.#pending)
        if (this.#evaluate(exchange, due) && ++evaluated % BATCH === 0) await nextTurn()
    }
    this.#running = false
  }

  /** @returns whether it evaluated the exchange */
  #evaluate(exchange: E, due: number): boolean {
    if (!this.#isCandidate(exchange)) return !this.#pending.delete(exchange)
    if (exchange.evaluation === null || this.#clock.now() < due || this.#evaluating.has(exchange))
      return false
    void this.#decide(exchange)
    return true
  }

  #decide(exchange: E): Result | Promise<Result> {
    this.#pending.delete(exchange)
    try {
      const result = this.#exchanges.reevaluate(exchange)
      if (!(result instanceof Promise)) return this.#apply(exchange, result)
      const waiting = this.#waitFor(exchange, result)
      this.#evaluating.set(exchange, waiting)
      return waiting
    } catch {
      return this.#retryLater(exchange)
    }
  }

  /**
   * Whether the exchange is open and served by an upstream or a stream of events, or not evaluated yet. A
   * refused exchange may be open too: it waits for its redirect to sign-in.
   */
  #isCandidate(exchange: E): boolean {
    const { evaluation, refusal } = exchange
    if (!this.#exchanges.inFlight.has(exchange) || (evaluation?.refusal ?? refusal) !== null) return false
    if (evaluation === null || this.#exchanges.isEventStream(exchange)) return true
    return evaluation.decision.route?.target.kind === 'upstream'
  }

  async #waitFor(exchange: E, result: Promise<Evaluation>): Promise<Result> {
    const next = await result.catch(() => null)
    this.#evaluating.delete(exchange)
    return next === null ? this.#retryLater(exchange) : this.#apply(exchange, next)
  }

  #apply(exchange: E, next: Evaluation): Result {
    if (!this.#isCandidate(exchange)) return 'kept'
    const refusal = refusalOf(exchange, next)
    // A 5xx is no decision: the store, or an identity provider, can't be asked.
    if (refusal !== null && refusal.status >= 500) return this.#retryLater(exchange)
    this.#exchanges.reevaluated(next.decision.code)
    if (refusal === null) exchange.evaluation = next
    else this.#exchanges.revoke(exchange, refusal)
    return refusal === null ? 'kept' : 'cut'
  }

  #retryLater(exchange: E): Result {
    this.#pending.set(exchange, this.#clock.now() + RETRY_AFTER)
    return 'unknown'
  }
}

/** Counts what is cut, until a result is not known. */
function tally() {
  const counts = { ...NOTHING_OPEN }
  let isKnown = true
  const count = (kind: keyof OpenCounts, result: Result): void => {
    if (result === 'cut') counts[kind]++
    isKnown &&= result !== 'unknown'
  }
  return { counts, count, isKnown: () => isKnown }
}

/** The exchanges that a revocation concerns. */
class Revoked<E extends OpenExchange> {
  readonly commit: RevokedCommit
  readonly ended: E[] = []
  readonly perhaps: E[] = []

  constructor(commit: RevokedCommit) {
    this.commit = commit
  }

  look(exchange: E): void {
    const concern = concernOf(exchange.evaluation?.decision.principal ?? null, this.commit)
    if (concern !== 'none') this[concern].push(exchange)
  }
}

/** The refusal by the new decision; null: the exchange may continue. */
function refusalOf(exchange: OpenExchange, { refusal, decision }: Evaluation): Refusal | null {
  if (refusal !== null) return refusal
  if (!sameCaller(exchange, decision)) return otherCaller
  return sameSpace(exchange, decision) ? null : otherSpace
}

/** The upstream received the caller's identity, so it must stay the same. */
function sameCaller({ evaluation }: OpenExchange, next: Decision): boolean {
  const before = evaluation?.decision.principal ?? null
  if (before === null) return true
  return next.principal?.tenant === before.tenant && next.principal.user === before.user
}

/** After a reload, a table may read it elsewhere. The upstream received the one that was decided on. */
function sameSpace({ evaluation }: OpenExchange, next: Decision): boolean {
  const before = evaluation?.decision ?? null
  const both = [before?.permission ?? null, next.permission]
  if (!both.every((permission) => permission !== null && needsPermission(permission))) return true
  return next.space === before?.space
}
