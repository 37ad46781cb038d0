/** Stages: the steps that a request passes, in order. A configuration composes a list of them. */

import type { Exchange } from '../http/server/exchange.ts'
import type { Refusal } from '../model/errors.ts'

/** The stage has answered the exchange, or the exchange is settled. */
export const ANSWERED = 'answered' as const

/**
 * What a stage returns: {@link ANSWERED}, or what `next` returns. So no stage forgets a promise whose
 * rejection would be lost.
 */
export type Passed = typeof ANSWERED | Promise<typeof ANSWERED>

/** Hands the exchange to the next stage. */
export type Next = (exchange: Exchange) => Passed

/**
 * Answers the exchange, or hands it to `next`. A stage that has waited checks `exchange.settled` first. An
 * exception or a rejection refuses the request: see `Pipeline`.
 */
export type Stage = (exchange: Exchange, next: Next) => Passed

/** Refuses a request in place of its decision, and tells the observers. */
export type RefuseDecided = (exchange: Exchange, refusal: Refusal) => Passed

/** One function that passes an exchange through the stages. */
export function composed(stages: readonly Stage[]): Next {
  return stages.reduceRight<Next>((next, stage) => (exchange) => stage(exchange, next), unanswered)
}

function unanswered(): never {
  throw new Error('no stage has answered the request')
}
