/**
 * Re-evaluates open WebSockets and long requests after a change of a Seat, key or session that their decision
 * depends on, and after their credential expires. `refusals.ts` cuts what is no longer allowed. One
 * instance a process; each process receives the changes of all writers.
 *
 * A check every half second costs almost nothing without changes. An exchange that a change concerns becomes
 * pending, and is evaluated again under the current configuration once it is a second old; most requests end
 * before. While the store can't be asked, pending exchanges stay open and pending: no decision against them
 * is known, and nothing new is allowed.
 */

import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Decision, Evaluation } from '../model/decision.ts'
import { needsPermission } from '../model/route.ts'
import type { Changed, Changes } from './pending-changes.ts'

/** Milliseconds between checks. */
const CHECK_EVERY = 500
/** Milliseconds: the age at which an exchange is re-evaluated. */
const MIN_AGE = 1000
/** Milliseconds until an evaluation that failed is tried again. */
const RETRY_AFTER = 2000
/** Evaluations before other events run. */
const BATCH = 100

/** The fields of an exchange that re-evaluation uses. */
export type OpenExchange = Pick<Exchange, 'startedAt' | 'evaluation' | 'refusal'>

/** The functions of the pipeline that re-evaluation uses. */
export interface OpenExchanges<E extends OpenExchange = Exchange> {
  /** The response is a stream of events, which the gateway makes. */
  isEventStream(exchange: E): boolean
  /** Exchanges that have not ended. */
  readonly inFlight: Iterable<E> & { has(exchange: E): boolean }
  /** Evaluates the same request under the current configuration. */
  reevaluate(exchange: E): Evaluation | Promise<Evaluation>
  /** The request is no longer allowed. */
  revoke(exchange: E, refusal: Refusal): void
  reevaluated(evaluation: Evaluation): void
}

/** Time as re-evaluation uses it, so that a simulation can control it. */
export interface ReevaluationClock {
  /** Monotonic ms, of the same origin as {@link Exchange.startedAt}. */
  now(): number
  /** ms since the epoch */
  wall(): number
  /** Runs `run` every `ms`; the result ends that. Does not keep the process alive. */
  every(ms: number, run: () => void): () => void
}

const systemClock: ReevaluationClock = {
  now: () => performance.now(),
  wall: () => Date.now(),
  every(ms, run) {
    const timer = setInterval(run, ms).unref()
    return () => clearInterval(timer)
  },
}

const otherCaller = new Refusal('token_invalid', 'The credential now identifies another caller.')

const otherSpace = new Refusal('space_conflict', 'The request now belongs to another space.')

export class Reevaluation<E extends OpenExchange = Exchange> {
  readonly #changes: Changes
  readonly #exchanges: OpenExchanges<E>
  readonly #clock: ReevaluationClock
  /** Exchange → monotonic ms from which it is due. */
  readonly #pending = new Map<E, number>()
  /** Exchanges with an evaluation in flight. */
  readonly #evaluating = new Set<E>()
  #cancel = (): void => {}
  #reloaded = false
  #running = false

  constructor(changes: Changes, exchanges: OpenExchanges<E>, clock = systemClock) {
    this.#changes = changes
    this.#exchanges = exchanges
    this.#clock = clock
  }

  start(): void {
    this.#cancel = this.#clock.every(CHECK_EVERY, () => this.#check())
  }

  stop(): void {
    this.#cancel()
  }

  /** Another configuration is active. A secret may be gone, and a public route may require a credential. */
  reloaded(): void {
    this.#reloaded = true
  }

  #check(): void {
    const changed = this.#changes.sinceLastCheck()
    const now = this.#clock.wall()
    for (const exchange of this.#exchanges.inFlight) {
      const due = exchange.startedAt + MIN_AGE
      // An evaluation in flight may have read the state before the change.
      const concerned = changed !== null && (this.#evaluating.has(exchange) || dependsOn(exchange, changed))
      if (this.#reloaded || concerned) this.#pending.set(exchange, due)
      else if (hasExpired(exchange, now) && !this.#pending.has(exchange)) this.#pending.set(exchange, due)
    }
    this.#reloaded = false
    if (this.#pending.size > 0 && !this.#running) void this.#evaluatePending()
  }

  async #evaluatePending(): Promise<void> {
    this.#running = true
    let evaluated = 0
    for (const [exchange, due] of this.#pending)
      if (this.#evaluate(exchange, due) && ++evaluated % BATCH === 0) await setImmediate()
    this.#running = false
  }

  /** @returns whether it evaluated the exchange */
  #evaluate(exchange: E, due: number): boolean {
    if (!this.#isCandidate(exchange)) return !this.#pending.delete(exchange)
    if (exchange.evaluation === null || this.#clock.now() < due || this.#evaluating.has(exchange))
      return false
    this.#pending.delete(exchange)
    try {
      const result = this.#exchanges.reevaluate(exchange)
      if (result instanceof Promise) void this.#waitFor(exchange, result)
      else this.#apply(exchange, result)
    } catch {
      this.#retryLater(exchange)
    }
    return true
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

  async #waitFor(exchange: E, result: Promise<Evaluation>): Promise<void> {
    this.#evaluating.add(exchange)
    const next = await result.catch(() => null)
    this.#evaluating.delete(exchange)
    if (next === null) this.#retryLater(exchange)
    else this.#apply(exchange, next)
  }

  #apply(exchange: E, next: Evaluation): void {
    if (!this.#isCandidate(exchange)) return
    const { refusal } = next
    // A 5xx is no decision: the store, or an identity provider, can't be asked.
    if (refusal !== null && refusal.status >= 500) return this.#retryLater(exchange)
    this.#exchanges.reevaluated(next)
    if (refusal !== null) this.#exchanges.revoke(exchange, refusal)
    else if (!sameCaller(exchange, next.decision)) this.#exchanges.revoke(exchange, otherCaller)
    else if (!sameSpace(exchange, next.decision)) this.#exchanges.revoke(exchange, otherSpace)
    else exchange.evaluation = next
  }

  #retryLater(exchange: E): void {
    this.#pending.set(exchange, this.#clock.now() + RETRY_AFTER)
  }
}

/** Whether the change may affect the decision. True where there is no decision yet. */
function dependsOn({ evaluation }: OpenExchange, changed: Changed): boolean {
  if (evaluation === null) return true
  const { principal, seats } = evaluation.decision
  if (principal === null) return false
  const { tenant, method, user, session } = principal
  if (method === 'api-key' && changed.has(tenant, 'api-key', user)) return true
  if (method !== 'api-key' && changed.has(tenant, 'block', JSON.stringify(user))) return true
  if (session !== null && changed.has(tenant, 'session', session)) return true
  return seats.some(
    ({ id, name, verdict }) =>
      verdict === 'grants' &&
      (changed.has(tenant, 'seat-name', name) || (id !== null && changed.has(tenant, 'seat', id))),
  )
}

/** @param now ms since the epoch */
function hasExpired({ evaluation }: OpenExchange, now: number): boolean {
  const until = evaluation?.decision.principal?.validUntil ?? null
  return until !== null && now >= until
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
