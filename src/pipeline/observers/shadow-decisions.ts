/**
 * Judges live requests by candidate tables. Nothing of it reaches a client: a fault of the candidate, or of
 * the store that it asks, is counted and goes no further.
 */

import type { DecisionCode, ShadowEngine } from '../../decision/shadow.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import type { Evaluation } from '../../model/decision.ts'
import type { ShadowResult } from '../../telemetry/metrics.ts'
import { authorizationRequest } from '../request-input.ts'
import type { Observer } from './observer.ts'

/** Judgements that wait for the store: they share its reads with live requests. */
const MOST_WAITING = 4

type Count = (result: ShadowResult) => void

export class ShadowDecisions implements Observer {
  readonly #shadow: ShadowEngine
  readonly #count: Count
  #waiting = 0

  constructor(shadow: ShadowEngine, count: Count) {
    this.#shadow = shadow
    this.#count = count
  }

  /** Counts one result. If the codes differ, the log line has the candidate's. Never throws. */
  evaluated(exchange: Exchange): void {
    try {
      const live = exchange.evaluated
      // Its message is not read yet. It is evaluated again.
      if (live.decision.route?.target.kind === 'mcp' && live.preflight === null) return
      const request = authorizationRequest(exchange)
      if (this.#waiting >= MOST_WAITING && !this.#shadow.isAlike(request, live))
        return this.#count('unjudged')
      const code = this.#shadow.decide(request, live)
      if (code instanceof Promise) void this.#await(exchange, code, live)
      else this.#note(exchange, code, live)
    } catch {
      this.#count('unjudged')
    }
  }

  async #await(exchange: Exchange, code: Promise<DecisionCode>, live: Evaluation): Promise<void> {
    this.#waiting++
    const candidate = await code.catch(() => null)
    this.#waiting--
    if (candidate === null || exchange.endedAt > 0) this.#count('unjudged')
    else this.#note(exchange, candidate, live)
  }

  #note(exchange: Exchange, code: DecisionCode, { decision }: Evaluation): void {
    const result = compare(decision.code, code)
    if (result !== 'same') exchange.note('shadow', code)
    this.#count(result)
  }
}

function compare(live: DecisionCode, candidate: DecisionCode): ShadowResult {
  if (live === candidate) return 'same'
  if (live === 'allow') return 'allow_to_deny'
  return candidate === 'allow' ? 'deny_to_allow' : 'other'
}
