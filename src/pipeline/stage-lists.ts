/**
 * The lists of stages, in order, and of observers. There are three lists of stages: for a request to the
 * front door, for a question of another proxy about a request, and for a request to a listener of built-in
 * endpoints alone. Each is composed when a configuration is activated. A new mechanism is a file in `stages/`
 * or `observers/`, and a line here. `decision/engine.ts` has the order of what `evaluate` does.
 */

import type { RateLimiter } from '../decision/limits/rate-limiter.ts'
import type { RequestShares } from '../http/server/request-shares.ts'
import type { AccessLog } from '../telemetry/access-log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { ProcessActivity } from '../telemetry/process-activity.ts'
import type { EventStreams } from './event-streams.ts'
import { countRequests, endTraces, logRequests, rememberDecisions } from './observers/observed-exchanges.ts'
import { type Observer, Observers } from './observers/observer.ts'
import { ShadowDecisions } from './observers/shadow-decisions.ts'
import type { GatewayConfig, PipelineConfig } from './pipeline-config.ts'
import type { Refusals } from './refusals.ts'
import { ANSWERED, composed, type Next, type RefuseDecided, type Stage } from './stage.ts'
import { answerQuestion } from './stages/answer-question.ts'
import { evaluate, type PassAgain } from './stages/evaluate.ts'
import { type DecideByCurrent, forwardMcpCall } from './stages/forward-mcp-call.ts'
import { forwardToUpstream } from './stages/forward-to-upstream.ts'
import { grantPreflight } from './stages/grant-preflight.ts'
import type { ClientCancels } from './stages/limit-cancels.ts'
import { readMcpCall } from './stages/read-mcp-call.ts'
import { refuseDenied } from './stages/refuse-denied.ts'
import { type LocalPipeline, serveLocal } from './stages/serve-local.ts'
import { servePublic } from './stages/serve-public.ts'
import { limitInFlight } from './stages/limit-in-flight.ts'
import { takeRateLimits } from './stages/take-rate-limits.ts'
import { validate, validateQuestion } from './stages/validate.ts'
import type { WebSockets } from './web-sockets.ts'

/** What outlives a configuration. */
export interface Mechanisms extends Pick<LocalPipeline, 'reevaluate' | 'held'> {
  readonly log: AccessLog
  readonly metrics: Metrics
  readonly refusals: Refusals
  readonly requestShares: RequestShares
  readonly eventStreams: EventStreams
  readonly passAgain: PassAgain
  readonly decideByCurrent: DecideByCurrent
}

export interface GatewayServices {
  readonly activity: ProcessActivity
  readonly rateLimiter: RateLimiter
}

/** What the front door has besides. */
interface GatewayMechanisms extends Mechanisms, GatewayServices {
  readonly webSockets: WebSockets
  readonly clientCancels: ClientCancels
}

export interface StageLists {
  /** The list for requests that the gateway forwards or serves. */
  readonly requests: Next
  readonly observers: Observers
}

export interface GatewayLists extends StageLists {
  /** The list for questions of other proxies. */
  readonly questions: Next
}

/** Composes the lists for a configuration. */
export type StagesOf<C extends PipelineConfig, L extends StageLists> = (
  config: C,
  mechanisms: Mechanisms,
) => L

/** The front door, and the questions of other proxies. */
export function gatewayStages(config: GatewayConfig, mechanisms: GatewayMechanisms): GatewayLists {
  const { engine, limits, upstreams, shadow, signIn, identity, trustedProxies } = config
  const { refusals, rateLimiter, requestShares, webSockets, clientCancels, metrics, activity, passAgain } =
    mechanisms
  const shadows =
    shadow === null ? [] : [new ShadowDecisions(shadow, (result) => metrics.countShadow(result))]
  const observers = observersOf(config, mechanisms, [
    rememberDecisions(activity),
    ...shadows,
    clientCancels.observer(trustedProxies),
    webSockets,
  ])
  const refuseDecided = refuseDecidedBy(observers, refusals)
  const { bodyTimeout } = limits
  const calls = config.hasMcp
    ? [
        readMcpCall({
          engine,
          passAgain,
          refuse: refusals.refuse,
          bodyTimeout,
          trustedProxies,
          observer: observers,
        }),
      ]
    : []
  const mcpForward = config.hasMcp
    ? [forwardMcpCall(upstreams, refusals.refuse, mechanisms.decideByCurrent)]
    : []
  const decision = [
    takeRateLimits(config, rateLimiter, refuseDecided, passAgain),
    refuseDenied(engine, signIn, observers, refusals),
  ]
  return {
    observers,
    requests: composed([
      validate(limits, refusals.refuse),
      clientCancels.limit(trustedProxies, refusals.refuse),
      evaluate(engine, observers, passAgain),
      ...calls,
      ...decision,
      limitInFlight(requestShares, refuseDecided),
      observeAllowed(observers),
      grantPreflight,
      ...mcpForward,
      forwardToUpstream(config, webSockets, observers, refusals.refuse),
      ...builtInStages(config, mechanisms),
    ]),
    questions: composed([
      validateQuestion(limits, refusals.refuse),
      evaluate(engine, observers, passAgain),
      ...decision,
      observeAllowed(observers),
      answerQuestion(upstreams, identity),
    ]),
  }
}

/** The list for built-in endpoints alone: no rate limits, upstreams and sign-in. */
export const builtInOnlyStages: StagesOf<PipelineConfig, StageLists> = (config, mechanisms) => {
  const { refusals, requestShares, passAgain } = mechanisms
  const observers = observersOf(config, mechanisms, [])
  return {
    observers,
    requests: composed([
      validate(config.limits, refusals.refuse),
      evaluate(config.engine, observers, passAgain),
      refuseDenied(config.engine, null, observers, refusals),
      limitInFlight(requestShares, refuseDecidedBy(observers, refusals)),
      observeAllowed(observers),
      ...builtInStages(config, mechanisms),
    ]),
  }
}

function refuseDecidedBy(observers: Observers, refusals: Refusals): RefuseDecided {
  return (exchange, refusal) => {
    observers.decided(exchange, refusal)
    refusals.refuse(exchange, refusal, null)
    return ANSWERED
  }
}

/** The request is allowed, and is answered or forwarded next. */
function observeAllowed(observers: Observers): Stage {
  return (exchange, next) => {
    observers.decided(exchange, null)
    return next(exchange)
  }
}

function builtInStages({ limits }: PipelineConfig, mechanisms: Mechanisms): readonly Stage[] {
  const { refusals, eventStreams, reevaluate, held } = mechanisms
  const { refuse, failed } = refusals
  const { bodyTimeout } = limits
  return [
    serveLocal({ reevaluate, held, refuse, failed, bodyTimeout, streams: eventStreams }),
    servePublic(bodyTimeout, refusals),
  ]
}

function observersOf(
  { trustedProxies }: PipelineConfig,
  { metrics, log }: Mechanisms,
  more: readonly Observer[],
): Observers {
  return new Observers([...more, countRequests(metrics), endTraces, logRequests(log, trustedProxies)])
}
