/**
 * Judges live requests by candidate tables, after they were decided and passed on. Nothing of it reaches a client: a fault
 * of the candidate, or of the store that it asks, is counted and goes no further.
 */

import type { DecisionCode, ShadowEngine } from '../decision/shadow.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Evaluation } from '../model/decision.ts'
import type { ShadowResult } from '../telemetry/metrics.ts'

/** Judgements that wait for the store: they share its reads with live requests. */
const MOST_WAITING = 4

export class ShadowDecisions {
  readonly #count: (result: ShadowResult) => void
  #waiting = 0

  constructor(count: (result: ShadowResult) => void) {
    this.#count = count
  }

  /** Counts one result; where the codes differ, the exchange has that of the candidate. Never throws. */
  judge(exchange: Exchange, shadow: ShadowEngine, request: AuthorizationRequest, live: Evaluation): void {
    try {
      if (this.#waiting >= MOST_WAITING && !shadow.isAlike(request, live)) return this.#count('unjudged')
      const code = shadow.decide(request, live)
      if (code instanceof Promise) void this.#await(exchange, code, live)
      else this.#note(exchange, code, live)
    } catch {
      this.#count('unjudged')
    }
  }

  async #await(exchange: Exchange, code: Promise<DecisionCode>, live: Evaluation): Promise<void> {
    this.#waiting++
    const found = await code.catch(() => null)
    this.#waiting--
    if (found === null || exchange.endedAt > 0) this.#count('unjudged')
    else this.#note(exchange, found, live)
  }

  #note(exchange: Exchange, code: DecisionCode, { decision }: Evaluation): void {
    const result = compare(decision.code, code)
    if (result !== 'same') exchange.shadow = code
    this.#count(result)
  }
}

function compare(live: DecisionCode, candidate: DecisionCode): ShadowResult {
  if (live === candidate) return 'same'
  if (live === 'allow') return 'allow_to_deny'
  return candidate === 'allow' ? 'deny_to_allow' : 'other'
}
