/**
 * Open WebSockets and long requests are decided again when something they rest on changes or ends: a Seat, a key, a
 * session, a token's time. What is no longer allowed is cut. Kept by the door, one a process; a process hears of the
 * changes of all, so whoever wrote makes no difference.
 *
 * A look every half second costs next to nothing while nothing has changed. What a change concerns becomes suspect, and
 * is judged by the judge of the day with its own question, once it is older than a second: shorter ones are over before
 * it would matter. While the store can't be asked, suspects stay open and stay suspect: nobody knows anything against
 * them, and nothing new is allowed meanwhile.
 */

import { performance } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Decision, Evaluation } from '../model/decision.ts'
import type { Changed, Changes } from './changes.ts'

/** Milliseconds between two looks. */
const LOOK = 500
/** Milliseconds that a request may have been open before it is worth a second decision. */
const YOUNG = 1000
/** Milliseconds until a question that could not be answered is asked again. */
const ASK_AGAIN = 2000
/** Decisions in a row before others get their turn. */
const IN_A_ROW = 100

/** What deciding again needs of the pipeline. */
export interface OpenExchanges {
  /** Those that have not ended. */
  readonly open: Iterable<Exchange> & { has(exchange: Exchange): boolean }
  /** The same question, on today's configuration. */
  reevaluate(exchange: Exchange): Evaluation | Promise<Evaluation>
  /** The answer has become no. */
  cut(exchange: Exchange, refusal: Refusal): void
  reevaluated(evaluation: Evaluation): void
}

const somebodyElse = new Refusal('token_invalid', 'The credential stands for another caller now.')

export class Reevaluation {
  readonly #changes: Changes
  readonly #exchanges: OpenExchanges
  /** Each with the monotonic ms from which it is judged. */
  readonly #suspects = new Map<Exchange, number>()
  /** The answer is waited for. */
  readonly #asked = new Set<Exchange>()
  #timer: NodeJS.Timeout | null = null
  #reloaded = false
  #judging = false

  constructor(changes: Changes, exchanges: OpenExchanges) {
    this.#changes = changes
    this.#exchanges = exchanges
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK).unref()
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  /** Another configuration is in force: a secret may be gone, a route may ask for more, be it of nobody before. */
  reloaded(): void {
    this.#reloaded = true
  }

  #look(): void {
    const changed = this.#changes.sinceLastLook()
    const now = Date.now()
    for (const exchange of this.#exchanges.open) {
      const due = exchange.startedAt + YOUNG
      // One that is being decided just now may have seen the old state of whatever it will rest on.
      const concerned = changed !== null && (this.#asked.has(exchange) || restsOn(exchange, changed))
      if (this.#reloaded || concerned) this.#suspects.set(exchange, due)
      else if (ranOut(exchange, now) && !this.#suspects.has(exchange)) this.#suspects.set(exchange, due)
    }
    this.#reloaded = false
    if (this.#suspects.size > 0 && !this.#judging) void this.#judgeSuspects()
  }

  async #judgeSuspects(): Promise<void> {
    this.#judging = true
    let evaluated = 0
    for (const [exchange, due] of this.#suspects)
      if (this.#engine(exchange, due) && ++evaluated % IN_A_ROW === 0) await setImmediate()
    this.#judging = false
  }

  /** @returns whether it was worth a decision */
  #engine(exchange: Exchange, due: number): boolean {
    if (!this.#concerns(exchange)) return !this.#suspects.delete(exchange)
    if (exchange.evaluation === null || performance.now() < due || this.#asked.has(exchange)) return false
    this.#suspects.delete(exchange)
    try {
      const verdict = this.#exchanges.reevaluate(exchange)
      if (verdict instanceof Promise) void this.#wait(exchange, verdict)
      else this.#decided(exchange, verdict)
    } catch {
      this.#askLater(exchange)
    }
    return true
  }

  /** It goes on, and something other than the gateway answers it. */
  #concerns(exchange: Exchange): boolean {
    const { evaluation, refusal } = exchange
    if (!this.#exchanges.open.has(exchange) || refusal !== null) return false
    return evaluation === null || evaluation.decision.route?.target.kind === 'upstream'
  }

  async #wait(exchange: Exchange, verdict: Promise<Evaluation>): Promise<void> {
    this.#asked.add(exchange)
    const again = await verdict.catch(() => null)
    this.#asked.delete(exchange)
    if (again === null) this.#askLater(exchange)
    else this.#decided(exchange, again)
  }

  #decided(exchange: Exchange, again: Evaluation): void {
    if (!this.#concerns(exchange)) return
    const { refusal } = again
    // That is no answer: the store, or an identity provider, can't be asked.
    if (refusal !== null && refusal.status >= 500) return this.#askLater(exchange)
    this.#exchanges.reevaluated(again)
    if (refusal !== null) this.#exchanges.cut(exchange, refusal)
    else if (!sameCaller(exchange, again.decision)) this.#exchanges.cut(exchange, somebodyElse)
    else exchange.evaluation = again
  }

  #askLater(exchange: Exchange): void {
    this.#suspects.set(exchange, performance.now() + ASK_AGAIN)
  }
}

/** Whether the answer could be another one now: where there is none yet, too. */
function restsOn({ evaluation }: Exchange, changed: Changed): boolean {
  if (evaluation === null) return true
  const { principal, seats } = evaluation.decision
  if (principal === null) return false
  const { tenant, method, user, session } = principal
  if (method === 'api-key' && changed.has(tenant, 'api-key', user)) return true
  if (session !== null && changed.has(tenant, 'session', session)) return true
  return seats.some(
    ({ id, name, verdict }) =>
      verdict === 'grants' &&
      (changed.has(tenant, 'seat-name', name) || (id !== null && changed.has(tenant, 'seat', id))),
  )
}

/** @param now ms since the epoch */
function ranOut({ evaluation }: Exchange, now: number): boolean {
  const until = evaluation?.decision.principal?.validUntil ?? null
  return until !== null && now >= until
}

/** The upstream was told who calls: it must go on being true. */
function sameCaller({ evaluation }: Exchange, again: Decision): boolean {
  const before = evaluation?.decision.principal ?? null
  if (before === null) return true
  return again.principal?.tenant === before.tenant && again.principal.user === before.user
}
