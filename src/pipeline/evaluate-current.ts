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

type TableFiles = Pick<ConfiguredFiles, 'areReplaced' | 'check'>

/**
 * Evaluates a request that is let through. Rejects if the store can't be asked.
 *
 * @param active the engine that is active at the moment. If another one becomes active while the evaluation
 *   waits, the request is evaluated again
 */
export function evaluateCurrent(
  active: () => Pick<DecisionEngine, 'evaluate'>,
  files: TableFiles,
  request: AuthorizationRequest,
): Evaluation | Promise<Evaluation> {
  return decideByCurrent(active, files, (engine) => engine.evaluate(request))
}

/** {@link evaluateCurrent} for several evaluations that belong together. */
export function decideByCurrent<E, R>(
  active: () => E,
  files: TableFiles,
  decide: (engine: E) => R | Promise<R>,
): R | Promise<R> {
  const again = () => decideByCurrent(active, files, decide)
  if (files.areReplaced()) return files.check().then(again)
  const engine = active()
  const result = decide(engine)
  if (!(result instanceof Promise)) return result
  return result.then((late) => (engine === active() && !files.areReplaced() ? late : again()))
}
