/** Decides the request. Allowed and denied ones pass on alike, with their evaluation. */

import type { DecisionEngine } from '../../decision/engine.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { corsLines } from '../../http/server/gateway-lines.ts'
import type { Evaluation } from '../../model/decision.ts'
import { authorizationRequest } from '../request-input.ts'
import type { Observer } from '../observers/observer.ts'
import { ANSWERED, type Next, type Passed, type Stage } from '../stage.ts'

/**
 * Passes the exchange through the active stages from their start; null: the engine is the active one. The
 * state on which a request is decided includes the tables: with others, a Seat that was read later could allow
 * what no state allows.
 */
export type PassAgain = (engine: DecisionEngine, exchange: Exchange) => Passed | null

export function evaluate(
  engine: DecisionEngine,
  observer: Required<Pick<Observer, 'evaluated'>>,
  passAgain: PassAgain,
): Stage {
  const first = (exchange: Exchange, evaluation: Evaluation, next: Next) => {
    record(exchange, evaluation)
    observer.evaluated(exchange)
    return passOn(exchange, next)
  }
  const again = (exchange: Exchange) => (exchange.settled ? ANSWERED : passAgain(engine, exchange))
  return (exchange, next) => {
    const request = authorizationRequest(exchange)
    const evaluation = engine.evaluate(request)
    if (!(evaluation instanceof Promise)) return first(exchange, evaluation, next)
    return evaluation
      .then((result) => again(exchange) ?? first(exchange, result, next))
      .catch((cause: unknown) => {
        // A page may read this refusal too: the path alone tells the table.
        if (exchange.evaluation === null) keepCors(exchange, engine.corsOf(request))
        throw cause
      })
  }
}

/** Decides an exchange again that has waited in a later stage, and passes it on. */
export function evaluateAgain(
  engine: DecisionEngine,
  passAgain: PassAgain,
  exchange: Exchange,
  next: Next,
): Passed {
  const again = () => passAgain(engine, exchange)
  const evaluation = engine.evaluate(authorizationRequest(exchange))
  if (!(evaluation instanceof Promise)) return again() ?? evaluated(exchange, evaluation, next)
  return evaluation.then((result) => again() ?? evaluated(exchange, result, next))
}

function evaluated(exchange: Exchange, evaluation: Evaluation, next: Next): Passed {
  record(exchange, evaluation)
  return passOn(exchange, next)
}

function record(exchange: Exchange, evaluation: Evaluation): void {
  exchange.evaluation = evaluation
  keepCors(exchange, evaluation.cors)
}

function passOn(exchange: Exchange, next: Next): Passed {
  // The client may have disconnected, or sent a malformed body, while the store was asked.
  return exchange.settled ? ANSWERED : next(exchange)
}

function keepCors(exchange: Exchange, lines: string | null): void {
  if (lines !== null && !exchange.handshake) corsLines.set(exchange, lines)
}
