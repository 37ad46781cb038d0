/** The lines that the gateway itself adds to a response. */

import { FieldLines } from '../wire/field-lines.ts'
import { type Exchange, Slot } from './exchange.ts'

/**
 * `Access-Control-*`; see `Evaluation.cors`. Empty for a WebSocket, to which CORS does not apply. Owner:
 * `stages/evaluate.ts`.
 */
export const corsLines = new Slot<string>(true)

/** What is left of the rate limits of the route; never ''. Owner: `stages/take-rate-limits.ts`. */
export const rateLimitLines = new Slot<string>(true)

/** The rate limits of the route have taken a token, or refused. */
export function isLimited(exchange: Exchange): boolean {
  return rateLimitLines.get(exchange) !== undefined
}

/** The lines that the gateway adds to a response of the upstream, except for CORS. */
export function linesForUpstreamResponse(exchange: Exchange): FieldLines {
  const limits = rateLimitLines.get(exchange)
  return limits === undefined
    ? exchange.requestIdLine
    : new FieldLines(exchange.requestIdLine.text + limits, null)
}
