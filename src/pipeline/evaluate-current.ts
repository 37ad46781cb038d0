/** Evaluates by the tables that belong to the state on which it decides: see `coherence/current-tables.ts`. */

import type { DecisionEngine } from '../decision/engine.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Evaluation } from '../model/decision.ts'

/** The right to decide by the configuration: see `coherence/current-files.ts`. */
export interface ConfiguredFiles {
  areCurrent(): boolean
  /** Whether a request that has waited since {@link check} must wait for it again. */
  areReplaced(): boolean
  check(): Promise<void>
}

/**
 * Evaluates a request that is let through. Rejects if the store can't be asked.
 *
 * @param active the engine that is active at the moment. If another one becomes active while the evaluation
 *   waits, the request is evaluated again
 */
export function evaluateCurrent(
  active: () => Pick<DecisionEngine, 'evaluate'>,
  files: Pick<ConfiguredFiles, 'areReplaced' | 'check'>,
  request: AuthorizationRequest,
): Evaluation | Promise<Evaluation> {
  const again = () => evaluateCurrent(active, files, request)
  if (files.areReplaced()) return files.check().then(again)
  const engine = active()
  const evaluation = engine.evaluate(request)
  if (!(evaluation instanceof Promise)) return evaluation
  return evaluation.then((late) => (engine === active() && !files.areReplaced() ? late : again()))
}
