/** Refuses a request as its decision says. */

import { type DecisionEngine, isForSpace } from '../decision/engine.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Evaluation } from '../model/decision.ts'
import type { Refusals } from './refusals.ts'
import { refuseOrSignIn, type SignInPorts } from './sign-in-refusals.ts'

/** Milliseconds that a refusal waits for the spaces that it names. */
const SPACES_PATIENCE = 100

/** @param evaluation one with a refusal */
export function refuseAsDecided(
  exchange: Exchange,
  config: SignInPorts & { readonly engine: DecisionEngine },
  evaluation: Evaluation,
  refusals: Refusals,
): void {
  if (isForSpace(evaluation)) return refuseNamingSpaces(exchange, config.engine, evaluation, refusals)
  const { refusal } = evaluation
  if (refusal === null) throw new Error('the request is allowed')
  refuseOrSignIn(exchange, config, evaluation, refusal, refusals)
}

/** Many of these requests have a wrong Space: the refusal says which ones would be right. */
function refuseNamingSpaces(
  exchange: Exchange,
  engine: DecisionEngine,
  evaluation: Evaluation,
  refusals: Refusals,
): void {
  const named = engine.nameSpaces(evaluation, SPACES_PATIENCE)
  if (!(named instanceof Promise)) return refuseNamed(exchange, named, refusals)
  named
    .then((later) => refuseNamed(exchange, later, refusals))
    .catch((cause: unknown) => refusals.failed(exchange, cause))
}

function refuseNamed(exchange: Exchange, evaluation: Evaluation, refusals: Refusals): void {
  exchange.evaluation = evaluation
  // The client may have disconnected meanwhile.
  if (evaluation.refusal !== null && !exchange.settled) refusals.refuse(exchange, evaluation.refusal, null)
}
