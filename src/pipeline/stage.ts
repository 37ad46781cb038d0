/**
 * Stages: the steps of a request on its way. A list of them is composed when a configuration is activated, so that a mechanism
 * that is not configured is not on the way.
 */

import type { Exchange } from '../http/server/exchange.ts'

/** Hands the exchange to the next stage. */
export type Next = (exchange: Exchange) => void | Promise<void>

/**
 * Answers the exchange, or hands it to `next`. A stage that has waited checks `exchange.settled` first. An exception or a rejection
 * refuses the request: see `Pipeline`.
 */
export type Stage = (exchange: Exchange, next: Next) => void | Promise<void>

/** One function that passes an exchange through the stages, in order. */
export function composed(stages: readonly Stage[]): Next {
  return stages.reduceRight<Next>((next, stage) => (exchange) => stage(exchange, next), unanswered)
}

function unanswered(): never {
  throw new Error('no stage has answered the request')
}
