/**
 * Takes a token from each rate limit of the routes that decided, or refuses with 429.
 * `redis/token-lender.ts` shares the counts between instances.
 */

import { linesOf } from '../../decision/call-lines.ts'
import type { DecisionEngine } from '../../decision/engine.ts'
import type { RateLimiter, RateLimitVerdict } from '../../decision/limits/rate-limiter.ts'
import type { Exchange } from '../../http/server/exchange.ts'
import { rateLimitLines } from '../../http/server/gateway-lines.ts'
import { mcpExchange } from '../../http/server/mcp-exchange.ts'
import { externalQuestion } from '../../http/server/question.ts'
import type { Evaluation } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import type { Route } from '../../model/route.ts'
import { networkOf, networkOfClient } from '../../proxy/client-network.ts'
import type { TrustedProxies } from '../../proxy/forwarded.ts'
import { ANSWERED, type Next, type RefuseDecided, type Stage } from '../stage.ts'
import { evaluateAgain, type PassAgain } from './evaluate.ts'

interface RateLimitsConfig {
  readonly engine: DecisionEngine
  readonly trustedProxies: TrustedProxies
}

export function takeRateLimits(
  { engine, trustedProxies }: RateLimitsConfig,
  limiter: RateLimiter,
  refuse: RefuseDecided,
  passAgain: PassAgain,
): Stage {
  const limited = (exchange: Exchange, verdict: RateLimitVerdict, next: Next) => {
    const refusal = refusalBy(exchange, verdict)
    return refusal === null ? next(exchange) : refuse(exchange, refusal)
  }
  /** What the request was decided on may have changed while tokens were asked for. */
  const later = (exchange: Exchange, verdict: RateLimitVerdict, next: Next) =>
    // A 401 comes before a 429.
    evaluateAgain(engine, passAgain, exchange, () =>
      isCounted(exchange.evaluated) ? limited(exchange, verdict, next) : next(exchange),
    )
  return (exchange, next) => {
    const verdict = takeTokens(limiter, exchange, trustedProxies)
    if (verdict === null) return next(exchange)
    if (!(verdict instanceof Promise)) return limited(exchange, verdict, next)
    return verdict.then((taken) => (exchange.settled ? ANSWERED : later(exchange, taken, next)))
  }
}

/**
 * Denied requests count too: they cost the gateway as much. One without a valid credential has no caller to
 * count it for.
 */
function isCounted({ refusal, preflight, decision }: Evaluation): boolean {
  if (preflight !== null) return false
  return refusal === null || (refusal.status === 403 && decision.principal !== null)
}

/**
 * Takes the tokens of a request.
 *
 * @returns null if it takes none; a promise if tokens are borrowed
 */
function takeTokens(
  limiter: RateLimiter,
  exchange: Exchange,
  trustedProxies: TrustedProxies,
): RateLimitVerdict | null | Promise<RateLimitVerdict> {
  const evaluation = exchange.evaluated
  const { principal } = evaluation.decision
  const routes = limitedRoutes(exchange, evaluation)
  if (routes.length === 0 || !isCounted(evaluation)) return null
  const question = externalQuestion.get(exchange)
  const client = question?.client ?? null
  const address = () =>
    client === null ? networkOfClient(exchange.request, trustedProxies) : networkOf(client)
  const request = { routes, principal, address }
  // The proxy asks again for a refusal that was counted with its first question.
  return question?.refusesOnly === true ? limiter.look(request) : limiter.take(request)
}

const NONE: readonly Route[] = []

/**
 * The routes with limits that decided. A call of an MCP server may need several lines, and one refuses it.
 */
function limitedRoutes(exchange: Exchange, { refusal, decision: { route } }: Evaluation): readonly Route[] {
  if (route === null) return NONE
  if (route.mcp === undefined || refusal !== null) return route.rateLimits === null ? NONE : [route]
  return linesOfCall(exchange).filter(({ rateLimits }) => rateLimits !== null)
}

function linesOfCall(exchange: Exchange): readonly Route[] {
  const mcp = mcpExchange.get(exchange)
  const lines = mcp === undefined || mcp.call === null ? NONE : linesOf(mcp.server, mcp.call)
  return lines instanceof Refusal ? NONE : lines
}

/**
 * Notes what the response and the log line say.
 *
 * @returns null: every limit has a token
 */
function refusalBy(exchange: Exchange, { exceeded, retryAfter, lines }: RateLimitVerdict): Refusal | null {
  if (lines !== '') rateLimitLines.set(exchange, lines)
  if (exceeded === null) return null
  exchange.note('rate_limited', exceeded.name)
  return new Refusal('rate_limited', `The limit "${exceeded.name}" is used up.`, { retryAfter })
}
