/** The rate limits of a request in the pipeline: whether it takes tokens, and what the verdict makes of its exchange. */

import type { RateLimiter, RateLimitVerdict } from '../decision/limits/rate-limiter.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { Evaluation } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import { networkOf, networkOfClient } from '../proxy/client-network.ts'
import type { TrustedProxies } from '../proxy/forwarded.ts'

/** Denied requests count too: they cost the gateway as much. One without a valid credential has no caller to count it for. */
export function isCounted({ refusal, preflight, decision }: Evaluation): boolean {
  if (preflight !== null) return false
  return refusal === null || (refusal.status === 403 && decision.principal !== null)
}

/** Null: the request takes no token. A promise where tokens are asked for. */
export function takeTokens(
  limiter: RateLimiter,
  { request, question }: Exchange,
  evaluation: Evaluation,
  trustedProxies: TrustedProxies,
): RateLimitVerdict | null | Promise<RateLimitVerdict> {
  const { route, principal } = evaluation.decision
  if (route === null || route.rateLimits === null || !isCounted(evaluation)) return null
  const client = question?.client ?? null
  const address = () => (client === null ? networkOfClient(request, trustedProxies) : networkOf(client))
  const counted = { route, principal, address }
  // The proxy asks again for a refusal that was counted with its first question.
  return question?.refusesOnly === true ? limiter.look(counted) : limiter.take(counted)
}

/** Notes in the exchange what its response and its log line say. @returns null: every limit has a token */
export function refusalBy(
  exchange: Exchange,
  { exceeded, retryAfter, lines }: RateLimitVerdict,
): Refusal | null {
  exchange.rateLimits = lines
  if (exceeded === null) return null
  exchange.limitedBy = exceeded.name
  return new Refusal('rate_limited', `The limit "${exceeded.name}" is used up.`, { retryAfter })
}
